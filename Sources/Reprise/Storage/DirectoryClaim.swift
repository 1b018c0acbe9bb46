#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Whether the files in a directory are a cache's, decided before anything is created or changed there.
///
/// A directory may be mistyped. What stands at the place of the index or of the lock is used only if it is a cache's:
/// by what it says itself, or, damaged, by what lies beside it.
enum DirectoryClaim {
    /// Throws ``RepriseError`` with code `storageUnavailable`, naming the file, if `directory` has a lock or an index
    /// that is not a cache's.
    static func check(_ directory: String, _ fileSystem: any FileSystem) throws(RepriseError) {
        let lock = DirectoryLock.contents(in: directory, fileSystem)
        guard lock != .foreign else { throw DirectoryLock.isForeign(directory) }
        let path = directory + "/" + Index.fileName
        try checkIsPlain(path)
        let index = try traces(path, fileSystem)
        if let format = index.format, format > Index.formatVersion { throw Index.isNewer(format) }
        let isUnknown = index.exists && !index.isIndex
        guard lock == .number || isUnknown else { return }
        // An intact database of another program's is none that was damaged.
        if isUnknown, index.isDatabase { throw isForeign(path) }
        let hasOthers = hasDataFiles(directory, fileSystem) || hasMark(directory, fileSystem)
        if lock == .number, !index.isIndex, !hasOthers { throw DirectoryLock.isForeign(directory) }
        if isUnknown, lock != .marked, !hasOthers { throw isForeign(path) }
    }

    /// What the file at `path` says about itself; nothing if it cannot be read, because opening it says why.
    private static func traces(_ path: String, _ fileSystem: any FileSystem) throws(RepriseError) -> IndexTraces {
        do throws(SystemError) {
            return try IndexTraces(path, fileSystem)
        } catch {
            throw RepriseError(
                .storageUnavailable, "\(path) cannot be read. Nothing was changed: see who may read it.", cause: error)
        }
    }

    /// Throws if there is something other than a file at `path`, such as a pipe, which would never be opened.
    private static func checkIsPlain(_ path: String) throws(RepriseError) {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFREG else { return }
        throw isForeign(path)
    }

    private static func isForeign(_ path: String) -> RepriseError {
        RepriseError(
            .storageUnavailable,
            "\(path) is not the index of a cache, and stays as it is. Choose another directory, or move the file away.")
    }

    /// Whether a cache was found damaged here, or was being emptied.
    private static func hasMark(_ directory: String, _ fileSystem: any FileSystem) -> Bool {
        [Index.suspicionName, Index.resettingName].contains { name in
            (try? fileSystem.status(of: "\(directory)/\(name)")) != nil
        }
    }

    /// Whether there are files with the names of a cache's data files.
    static func hasDataFiles(_ directory: String, _ fileSystem: any FileSystem) -> Bool {
        let root = directory + "/media"
        return ((try? fileSystem.names(in: root)) ?? []).contains { folder in
            ((try? fileSystem.names(in: "\(root)/\(folder)")) ?? []).contains { DataFileName($0, in: folder) != nil }
        }
    }
}
