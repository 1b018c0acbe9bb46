import ByteRanges
import HTTPSemantics
import Primitives

/// Background work: cleanup after a crash.
extension Store {
    private static let digits = Array("0123456789abcdef")

    /// Removes data files without a record and records without a file.
    ///
    /// After a crash, also compares the usage of the files with the recorded usage, and the sums of the index with its
    /// rows.
    ///
    /// Checks the 256 folders one by one, so that memory does not grow with the number of entries. Skips resources in
    /// memory, for which `isLive` returns true.
    func reconcile(isLive: @escaping @Sendable (String) -> Bool) async {
        // First, because eviction and reservations depend on the sums.
        if isUnclean { await correctUsage() }
        for high in Self.digits {
            for low in Self.digits {
                if Task.isCancelled { return }
                do throws(SystemError) {
                    try await reconcile(folder: "\(high)\(low)", isLive: isLive)
                } catch {
                    // A folder that cannot be read now still exists; the next opening tries again.
                    let words = RepriseError.words(of: error) ?? "\(error)"
                    reporter.tell(.storeBypassed(nil, reason: "The media cannot be looked through: \(words)."))
                    return
                }
            }
        }
        leftovers.endSearch()
    }

    /// Corrects the sums of the index, which may be wrong in a damaged file.
    ///
    /// If the index cannot be read or written, the next opening or a verification does it.
    private func correctUsage() async {
        guard (try? await index.look { try $0.entries.isUsageRight() }) == false,
            let (before, after) = try? await index.entries.recount()
        else { return }
        quota.correct(from: before, to: after)
    }

    private func reconcile(
        folder: String, isLive: @escaping @Sendable (String) -> Bool
    ) async throws(SystemError) {
        let lost = try await DiskQueue.shared.run { [self] () throws(SystemError) in
            try compare(folder: folder, isLive: isLive)
        }
        for id in lost { if let usage = try? await recorder.remove(generation: id) { quota.release(usage) } }
    }

    /// Removes the files of a folder that have no record; returns the generations without a file.
    private func compare(folder: String, isLive: (String) -> Bool) throws(SystemError) -> [Int64] {
        let path = "\(directory)/media/\(folder)"
        // In this order, because files made in between are in `made`, and records written in between have a file.
        guard let living = try? index.entries.generations(prefix: folder) else { return [] }
        let names = try names(in: path)
        let made = leftovers.made
        var found: Set<Int64> = []
        for name in names {
            guard let file = DataFileName(name, in: folder) else { continue }
            found.insert(file.generation)
            if living[file.generation] == nil, !made.contains(file.generation) {
                removeOrphan("\(path)/\(name)", of: file.generation)
            }
        }
        if isUnclean {
            for (id, entry) in living where found.contains(id) && !isLive(entry.name) { chargeExcess(of: entry) }
        }
        let gone = living.filter { !found.contains($0.key) && !isLive($0.value.name) }.map(\.key)
        for id in gone {
            // Before its record is removed, so that a running verification finds the one or the other, and its titles.
            if let key = try? index.entries.key(ofGeneration: id) {
                let titles = try? index.titles.keys(withFiles: [key])
                leftovers.noteLost(key, of: titles ?? [])
            }
        }
        return gone
    }

    /// Removes a file without a record.
    ///
    /// A file that cannot be removed is charged.
    private func removeOrphan(_ path: String, of generation: Int64) {
        do throws(SystemError) {
            try fileSystem.remove(path)
            dischargeExcess(generation)
        } catch {
            guard !error.isMissingFile, !leftovers.hasExcess(generation) else { return }
            _ = charge(path, of: generation)
        }
    }

    /// Empty if the folder does not exist.
    private func names(in path: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try fileSystem.names(in: path)
        } catch {
            guard error.isMissingFile else { throw error }
            return []
        }
    }

    /// Removes the records of entries; retained ones only with `force`.
    ///
    /// If the disk has no room for the transaction, removes their files first. Records without a file count as missing.
    func forget(_ names: [String], force: Bool) async throws(RepriseError) -> Index.Removal {
        do throws(RepriseError) {
            return try await recorder.remove(names, force: force)
        } catch {
            guard error.isLackOfRoom else { throw error }
            try await DiskQueue.shared.run { [self] () throws(RepriseError) in
                let kept = force ? [] : try index.retentions.held(names)
                for name in names where !kept.contains(name) {
                    for (id, _) in try index.entries.generations(prefix: name) {
                        removeFile(name: name, generation: id)
                    }
                }
            }
            return try await recorder.remove(names, force: force)
        }
    }

    /// Charges bytes beyond the record of a file that a crash left, until the file is trimmed or removed.
    private func chargeExcess(of generation: GenerationRow) {
        let path = path(name: generation.name, generation: generation.id)
        guard let status = try? fileSystem.status(of: path) else { return }
        let excess = status.allocated - generation.usage.allocated
        guard excess > 0 else { return }
        leftovers.note(excess: excess, of: generation.id)
        quota.correct(from: Usage(), to: Usage(allocated: excess))
    }

    /// Stops charging the bytes of `id` beyond its record.
    func dischargeExcess(_ id: Int64) {
        guard let bytes = leftovers.takeExcess(of: id) else { return }
        quota.release(allocated: bytes)
    }

    /// Frees blocks without a record when a generation is loaded after a crash, so that its usage is correct.
    func trim(_ file: DataFile, to stored: ByteRangeSet) {
        guard isUnclean, let status = file.status else { return }
        guard status.allocated > Allocation(stored).usage.allocated else { return }
        let block = Allocation.blockSize
        // Another program may have extended the file, up to 2^63 - 1 bytes.
        let length = min(max(status.size, stored.bounds?.upperBound ?? 0), .largestPosition)
        let size = (length / block + 1) * block
        for hole in stored.holes(in: 0..<size) {
            let lower = (hole.lowerBound + block - 1) / block * block
            let upper = hole.upperBound / block * block
            if lower < upper { _ = file.punch(lower..<upper) }
        }
    }
}
