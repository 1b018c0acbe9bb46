import Foundation

/// An open cache directory: its lock and its index.
///
/// It is opened read-only if it cannot be written or the disk is full.
struct StoreOpening {
    /// `nil` if the directory is open for reading and has no lock.
    let lock: DirectoryLock?
    let fileSystem: any FileSystem
    let index: Index
    /// Whether the previous process did not close the cache.
    let isUnclean: Bool
    /// The limit that was set last.
    let limit: Int64?
    /// The limit that was recorded before this opening.
    let limitBefore: Int64?
    /// Why the cache starts empty although there was an index; `nil` otherwise.
    let reset: String?
    /// Why nothing can be written; `nil` if something can.
    let problem: RepriseError?

    init(
        _ directory: String, vault: Vault?, configuration: MediaCache.Configuration
    ) throws(RepriseError) {
        do throws(RepriseError) {
            self = try Self(writing: directory, vault: vault, configuration: configuration)
        } catch {
            guard error.forbidsWriting || error.isLackOfRoom else { throw error }
            do throws(RepriseError) {
                guard
                    let opening = try Self(reading: directory, vault: vault, configuration: configuration, cause: error)
                else { throw error }
                self = opening
            } catch let refusal {
                guard refusal.code == .keyUnavailable else { throw refusal }
                throw RepriseError(
                    .keyUnavailable,
                    "\(refusal.message) It cannot be emptied either, because \(directory) cannot be written.",
                    cause: error.cause)
            }
        }
    }

    private init(
        writing directory: String, vault: Vault?, configuration: MediaCache.Configuration
    ) throws(RepriseError) {
        fileSystem = configuration.fileSystem
        try DirectoryClaim.check(directory, fileSystem: fileSystem)
        try Self.makeDirectory(directory, in: fileSystem)
        // First, because new files inherit the protection of the directory.
        Self.protect(directory, in: fileSystem)
        lock = try DirectoryLock(directory: directory, in: fileSystem)
        let unreleased = try IndexDatabase.setAsideUnreleased(directory, fileSystem: fileSystem) {
            configuration.reached?($0)
        }
        try Self.makeDirectory(directory + "/media", in: fileSystem)
        Self.protectContents(of: directory, in: fileSystem)
        let opening = try Self.openIndex(directory, vault: vault, configuration: configuration)
        index = Index(opening.database)
        reset = unreleased ?? opening.reset
        isUnclean = opening.isUnclean || reset != nil
        limit = opening.limit
        limitBefore = opening.limitBefore
        problem = nil
    }

    private static func makeDirectory(_ path: String, in fileSystem: any FileSystem) throws(RepriseError) {
        do throws(SystemError) {
            try fileSystem.makeDirectory(path)
        } catch {
            throw RepriseError(.storageUnavailable, "Cannot create \(path).", cause: error)
        }
    }

    private init?(
        reading directory: String, vault: Vault?, configuration: MediaCache.Configuration, cause: RepriseError
    ) throws(RepriseError) {
        // So that background work, such as the removal of a generation, changes nothing.
        fileSystem = ReadOnlyFileSystem(configuration.fileSystem)
        lock = try DirectoryLock(reading: directory, in: fileSystem)
        guard let database = try IndexDatabase.open(readOnly: directory, vault: vault) else { return nil }
        index = Index(database)
        isUnclean = false
        limit = nil
        limitBefore = nil
        reset = nil
        problem =
            cause.isLackOfRoom
            ? RepriseError(
                .storageFull,
                "The disk of \(directory) is full, and the index needs room to be changed: stored bytes are served, and "
                    + "nothing is added or removed. Free some of the disk.")
            : RepriseError(
                .storageUnavailable,
                "\(directory) is read-only: stored bytes are served, and nothing is added.",
                cause: cause.cause)
    }

    /// Excludes the directory from backups and, on systems with data protection, makes it readable from the first
    /// unlock on, so that playback continues behind the lock screen.
    private static func protect(_ directory: String, in fileSystem: any FileSystem) {
        #if canImport(Darwin)
            var url = URL(fileURLWithPath: directory, isDirectory: true)
            var values = URLResourceValues()
            values.isExcludedFromBackup = true
            // A disk without such attributes can still store media.
            try? url.setResourceValues(values)
        #endif
        fileSystem.makeReadableWhileLocked(directory)
    }

    /// Makes the lock and the media readable from the first unlock on, if they were created before the directory was
    /// protected.
    private static func protectContents(of directory: String, in fileSystem: any FileSystem) {
        let lock = directory + "/lock"
        if fileSystem.isUnreadableWhileLocked(lock) { fileSystem.makeReadableWhileLocked(lock) }
        let root = directory + "/media"
        guard fileSystem.isUnreadableWhileLocked(root) else { return }
        var isComplete = true
        for folder in (try? fileSystem.names(in: root)) ?? [] where DataFileName.isFolder(folder) {
            // The folder first, because the system may refuse to change files while the device is locked.
            isComplete = fileSystem.makeReadableWhileLocked("\(root)/\(folder)") && isComplete
            for name in (try? fileSystem.names(in: "\(root)/\(folder)")) ?? []
            where DataFileName(name, in: folder) != nil {
                isComplete = fileSystem.makeReadableWhileLocked("\(root)/\(folder)/\(name)") && isComplete
            }
        }
        // Last, so that the next opening tries again if the system refused any.
        if isComplete { fileSystem.makeReadableWhileLocked(root) }
    }

    /// Opens the index; on a full disk, tries again after freeing the reserve.
    private static func openIndex(
        _ directory: String, vault: Vault?, configuration: MediaCache.Configuration
    ) throws(RepriseError) -> IndexOpener.Opening {
        let fileSystem = configuration.fileSystem
        let reserve = IndexReserve(directory, fileSystem: fileSystem)
        let opener = IndexOpener(
            directory: directory, vault: vault, fileSystem: fileSystem,
            removeMedia: { removeMedia(directory, fileSystem: fileSystem) },
            releaseReserve: { reserve.release() }, resetsWhenKeyDiffers: configuration.resetsWhenKeyDiffers,
            willReset: { configuration.willReset?($0) },
            limit: configuration.isLimitGiven ? configuration.limit : nil, reached: { configuration.reached?($0) })
        do throws(RepriseError) {
            let opening = try opener.open()
            reserve.make()
            return opening
        } catch {
            guard error.isLackOfRoom, reserve.release() else { throw error }
            return try opener.open()
        }
    }

    private static func removeMedia(_ directory: String, fileSystem: any FileSystem) {
        let root = directory + "/media"
        for folder in (try? fileSystem.names(in: root)) ?? [] {
            for name in (try? fileSystem.names(in: "\(root)/\(folder)")) ?? [] {
                guard DataFileName(name, in: folder) != nil else { continue }
                let path = "\(root)/\(folder)/\(name)"
                // Emptied first, because another process may have it open.
                try? fileSystem.open(path, create: false).truncate(to: 0)
                try? fileSystem.remove(path)
            }
        }
    }
}
