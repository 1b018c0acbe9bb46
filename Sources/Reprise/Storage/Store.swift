import Foundation

/// The disk side of a cache: directory, lock, index, quota.
final class Store: Sendable {
    let directory: String
    let catalogue: Catalogue
    let recorder: Recorder
    let quota: Quota
    let evictor: Evictor
    private let lock: DirectoryLock

    init(
        directory: String, limit: Int64, journal: Journal, clock: CacheClock
    ) throws(RepriseError) {
        do {
            try FileManager.default.createDirectory(
                atPath: directory + "/media", withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot create \(directory).", cause: error)
        }
        self.directory = directory
        lock = try DirectoryLock(directory: directory)
        catalogue = try Catalogue(directory: directory)
        quota = Quota(limit: limit, used: try catalogue.storedBytes())
        recorder = Recorder(catalogue: catalogue, journal: journal, clock: clock)
        evictor = Evictor(catalogue: catalogue, recorder: recorder, quota: quota)
    }

    /// Where the bytes of a generation lie.
    ///
    /// Made of the key's hash and a number: nothing of a URL gets into a file name.
    static func path(in directory: String, keyHash: String, generation: Int64) -> String {
        let number = String(UInt64(bitPattern: generation), radix: 16)
        return "\(directory)/media/\(keyHash.prefix(2))/\(keyHash)-\(number)"
    }

    func path(keyHash: String, generation: Int64) -> String {
        Self.path(in: directory, keyHash: keyHash, generation: generation)
    }

    /// Records everything and lets go of the directory.
    func close() async throws(RepriseError) {
        defer { lock.release() }
        guard await recorder.close() else { return }
        try await catalogue.checkpoint()
        try catalogue.close()
    }

    /// Removes data files that no record names: what a process left behind that died before its first record.
    ///
    /// `before` is when this process opened the cache; younger files are its own, recorded or not.
    func removeOrphans(before opened: Date) {
        guard let living = try? catalogue.generationIDs() else { return }
        let root = directory + "/media"
        let manager = FileManager.default
        for folder in (try? manager.contentsOfDirectory(atPath: root)) ?? [] {
            for name in (try? manager.contentsOfDirectory(atPath: "\(root)/\(folder)")) ?? [] {
                guard let dash = name.lastIndex(of: "-"),
                    let number = UInt64(name[name.index(after: dash)...], radix: 16),
                    !living.contains(Int64(bitPattern: number))
                else { continue }
                let path = "\(root)/\(folder)/\(name)"
                let attributes = try? manager.attributesOfItem(atPath: path)
                guard let changed = attributes?[.modificationDate] as? Date, changed < opened else { continue }
                Files.remove(path)
            }
        }
    }
}
