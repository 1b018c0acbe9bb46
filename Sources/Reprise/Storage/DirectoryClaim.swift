#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Checks whether the files in a directory belong to a cache, before anything is created or changed there.
///
/// The name of a directory may be mistyped. A file with the name of the index or of the lock is used only if it is a
/// cache's: because of its content or, if that is damaged, because of the files beside it.
enum DirectoryClaim {
    /// Throws ``RepriseError`` with code `storageUnavailable`, naming the file, if `directory` has a lock or an index
    /// that is not a cache's.
    static func check(_ directory: String, fileSystem: any FileSystem) throws(RepriseError) {
        let lock = DirectoryLock.contents(in: directory, fileSystem: fileSystem)
        guard lock != .foreign else { throw DirectoryLock.isForeign(directory) }
        let path = directory + "/" + IndexDatabase.fileName
        try checkIsPlain(path)
        let index = try traces(path, fileSystem: fileSystem)
        if !index.exists { try checkCompanions(path, fileSystem: fileSystem) }
        if let format = index.format, format > IndexDatabase.formatVersion { throw IndexDatabase.isNewer(format) }
        let isUnknown = index.exists && !index.isIndex
        guard lock == .number || isUnknown else { return }
        // An intact database of another program is not a damaged index.
        if isUnknown, index.isDatabase { throw isForeign(path) }
        let hasOthers = hasDataFiles(directory, fileSystem: fileSystem) || hasMark(directory, fileSystem: fileSystem)
        if lock == .number, !index.isIndex, !hasOthers { throw DirectoryLock.isForeign(directory) }
        if isUnknown, lock != .marked, !hasOthers { throw isForeign(path) }
    }

    static func hasIndex(_ directory: String, fileSystem: any FileSystem) -> Bool {
        (try? IndexTraces(directory + "/" + IndexDatabase.fileName, fileSystem: fileSystem))?.isIndex == true
    }

    /// Throws if another program's file has the name of one of SQLite's own files, because SQLite would replace it.
    private static func checkCompanions(_ path: String, fileSystem: any FileSystem) throws(RepriseError) {
        let beginnings: [(suffix: String, magic: [[UInt8]])] = [
            ("-wal", [[0x37, 0x7F, 0x06, 0x82], [0x37, 0x7F, 0x06, 0x83]]), ("-shm", [[0x18, 0xE2, 0x2D, 0x00]]),
            ("-journal", [[0xD9, 0xD5, 0x05, 0xF9], [0, 0, 0, 0]]),
        ]
        for (suffix, magic) in beginnings {
            guard let file = try? fileSystem.open(readOnly: path + suffix) else { continue }
            var bytes = [UInt8](repeating: 0, count: 4)
            let count = bytes.withUnsafeMutableBytes { pread(file.descriptor, $0.baseAddress, $0.count, 0) }
            if count > 0, !magic.contains(bytes) { throw isForeign(path + suffix) }
        }
    }

    private static func traces(_ path: String, fileSystem: any FileSystem) throws(RepriseError) -> IndexTraces {
        do throws(SystemError) {
            return try IndexTraces(path, fileSystem: fileSystem)
        } catch {
            throw RepriseError(
                .storageUnavailable, "\(path) cannot be read. Nothing was changed: see who may read it.", cause: error)
        }
    }

    /// Throws if there is something other than a regular file at `path`.
    ///
    /// Opening a pipe would block, and a link leads to the file of another program.
    private static func checkIsPlain(_ path: String) throws(RepriseError) {
        var status = stat()
        guard lstat(path, &status) == 0 else { return }
        guard status.st_mode & S_IFMT == S_IFREG, status.st_nlink <= 1 else { throw isForeign(path) }
    }

    private static func isForeign(_ path: String) -> RepriseError {
        RepriseError(
            .storageUnavailable,
            "\(path) is not the index of a cache, and stays as it is. Choose another directory, or move the file away.")
    }

    /// Whether a cache in the directory was found damaged, or was being emptied.
    private static func hasMark(_ directory: String, fileSystem: any FileSystem) -> Bool {
        [IndexDatabase.suspicionName, IndexDatabase.resettingName].contains { name in
            (try? fileSystem.status(of: "\(directory)/\(name)")) != nil
        }
    }

    static func hasDataFiles(_ directory: String, fileSystem: any FileSystem) -> Bool {
        let root = directory + "/media"
        return ((try? fileSystem.names(in: root)) ?? []).contains { folder in
            ((try? fileSystem.names(in: "\(root)/\(folder)")) ?? []).contains { DataFileName($0, in: folder) != nil }
        }
    }
}
