import ByteRanges
import HTTPSemantics
import Locks

/// What is done beside the reads: putting right what a crash left, and what has grown too old.
extension Store {
    private static let digits = Array("0123456789abcdef")

    /// Removes data files that no record names and records whose file is gone; after an unclean stop also compares what
    /// the files occupy with what is counted.
    ///
    /// Works by the 256 folders, so that memory does not grow with the number of entries. `isLive` says which keys are
    /// in memory: theirs is the resource's own business.
    func reconcile(isLive: (String) -> Bool) async {
        for high in Self.digits {
            for low in Self.digits {
                if Task.isCancelled { return }
                do throws(SystemError) {
                    try await reconcile(folder: "\(high)\(low)", isLive: isLive)
                } catch {
                    // What cannot be looked at now is not gone: the next opening looks again.
                    journal.tell(.storeBypassed(nil, reason: "The media cannot be looked through: \(error)."))
                    return
                }
            }
        }
        _ = takeMade()
        isReconciled.withLock { $0 = true }
    }

    private func reconcile(folder: String, isLive: (String) -> Bool) async throws(SystemError) {
        let path = "\(directory)/media/\(folder)"
        // In this order: what is made in between is in `made`, and what is recorded in between has a file.
        guard let living = try? catalogue.generations(prefix: folder) else { return }
        let names = try names(in: path)
        let made = madeNow
        var found: Set<Int64> = []
        for name in names {
            guard let dash = name.lastIndex(of: "-"),
                let number = UInt64(name[name.index(after: dash)...], radix: 16)
            else { continue }
            let id = Int64(bitPattern: number)
            found.insert(id)
            if living[id] == nil, !made.contains(id) { try? fileSystem.remove("\(path)/\(name)") }
        }
        if isUnclean {
            for (id, entry) in living where found.contains(id) && !isLive(entry.name) { chargeExcess(id, entry) }
        }
        for (id, entry) in living where !found.contains(id) && !isLive(entry.name) {
            if let usage = try? await recorder.remove(generation: id) { quota.release(usage) }
        }
    }

    /// What is in the folder at `path`; nothing if it is not there.
    private func names(in path: String) throws(SystemError) -> [String] {
        do throws(SystemError) {
            return try fileSystem.names(in: path)
        } catch {
            guard error.isMissingFile else { throw error }
            return []
        }
    }

    /// Forgets entries; on a full disk, which takes no record, their files go first: records without a file are as good as
    /// none.
    ///
    /// Those that are to be kept only if `force` says so.
    func forget(_ names: [String], force: Bool) async throws(RepriseError) -> Catalogue.Removal {
        do throws(RepriseError) {
            return try await recorder.remove(names, force: force)
        } catch {
            guard error.isLackOfRoom else { throw error }
            let kept = force ? [] : try catalogue.held(names)
            for name in names where !kept.contains(name) {
                for (id, _) in try catalogue.generations(prefix: name) { removeFile(name: name, generation: id) }
            }
            return try await recorder.remove(names, force: force)
        }
    }

    /// After an unclean stop a file may hold more than its record counts: counted until it is loaded and trimmed, or goes.
    private func chargeExcess(_ id: Int64, _ entry: (name: String, usage: Usage)) {
        guard let status = try? fileSystem.status(of: path(name: entry.name, generation: id)) else { return }
        let excess = status.allocated - entry.usage.allocated
        guard excess > 0 else { return }
        self.excess.withLock { $0[id] = excess }
        quota.correct(from: Usage(), to: Usage(allocated: excess))
    }

    /// What `id` holds beyond its record does not count any more.
    func dischargeExcess(_ id: Int64) {
        guard let bytes = excess.withLock({ $0.removeValue(forKey: id) }) else { return }
        quota.release(allocated: bytes)
    }

    /// Makes the counted room of a generation that is being loaded true after an unclean stop: blocks without a record are
    /// given back.
    func trim(_ file: DataFile, to stored: ByteRangeSet) {
        guard isUnclean, let status = file.status else { return }
        guard status.allocated > Allocation(stored).usage.allocated else { return }
        let block = Allocation.blockSize
        // A file may be made longer from outside, up to 2^63 - 1 bytes.
        let length = min(max(status.size, stored.bounds?.upperBound ?? 0), .largestPosition)
        let size = (length / block + 1) * block
        for hole in stored.holes(in: 0..<size) {
            let lower = (hole.lowerBound + block - 1) / block * block
            let upper = hole.upperBound / block * block
            if lower < upper { _ = file.punch(lower..<upper) }
        }
    }
}
