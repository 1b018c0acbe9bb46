import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The file of a control socket, from before it is bound until it is removed.
///
/// Only files that this user owns are replaced or removed, and only sockets that nothing listens on.
struct SocketFile {
    /// The path to bind and to connect to.
    let path: String
    private let place: ControlPlace
    /// Keeps the folder open for a path through it.
    private let folder: Int32?
    /// Which file it is, once it is bound.
    private var identity: (device: UInt64, number: UInt64)?

    /// Why a place cannot be used.
    struct Objection: Error, CustomStringConvertible {
        let description: String
    }

    /// Makes `place` ready for a new socket: the folder exists and belongs to this user, and no file has the name.
    init(at place: ControlPlace) throws(Objection) {
        self.place = place
        // A folder that is there already may have other files of the user, and keeps its mode.
        if place.isMade, mkdir(place.folder, 0o700) != 0, errno != EEXIST {
            throw Objection(description: "\(place.folder) cannot be made: \(Self.lastError).")
        }
        try Self.checkFolder(place)
        if place.path.utf8.count <= ControlPlace.longestPath {
            (path, folder) = (place.path, nil)
        } else {
            (path, folder) = try Self.shortPath(to: place)
        }
        do throws(Objection) { try Self.removeStale(path, named: place.path) } catch {
            if let folder { close(folder) }
            throw error
        }
    }

    /// The folder is one that only this user can write; links are no folders.
    private static func checkFolder(_ place: ControlPlace) throws(Objection) {
        var status = stat()
        guard lstat(place.folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
            // The directory of a cache may be reached through a link that its owner made.
            guard !place.isMade, stat(place.folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else {
                throw Objection(description: "\(place.folder) is no folder.")
            }
            return try checkOwner(status, of: place)
        }
        try checkOwner(status, of: place)
    }

    private static func checkOwner(_ status: stat, of place: ControlPlace) throws(Objection) {
        guard status.st_uid == geteuid() else {
            throw Objection(description: "\(place.folder) belongs to another user.")
        }
        guard status.st_mode & 0o022 == 0 else {
            throw Objection(description: "\(place.folder) can be written by other users.")
        }
    }

    /// A path through an open descriptor of the folder, where the system has such paths.
    private static func shortPath(to place: ControlPlace) throws(Objection) -> (String, Int32) {
        #if os(Linux)
            let folder = open(place.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
            guard folder >= 0 else {
                throw Objection(description: "\(place.folder) cannot be opened: \(lastError).")
            }
            return ("/proc/self/fd/\(folder)/\(place.name)", folder)
        #else
            throw Objection(
                description: "\(place.path) is longer than the \(ControlPlace.longestPath) bytes of a socket's address."
            )
        #endif
    }

    private static func removeStale(_ path: String, named name: String) throws(Objection) {
        var status = stat()
        guard lstat(path, &status) == 0 else {
            guard errno == ENOENT else { throw Objection(description: "\(name) cannot be examined: \(lastError).") }
            return
        }
        guard status.st_uid == geteuid() else { throw Objection(description: "\(name) belongs to another user.") }
        switch status.st_mode & S_IFMT {
        case S_IFSOCK:
            guard !isAnswered(path) else { throw Objection(description: "Another server listens on \(name).") }
        // The link that an earlier server left in the directory of its cache.
        case S_IFLNK where name.hasSuffix("/" + ControlPlace.nameInCache): break
        default: throw Objection(description: "\(name) is no socket, and is left alone.")
        }
        guard unlink(path) == 0 || errno == ENOENT else {
            throw Objection(description: "\(name) cannot be removed: \(lastError).")
        }
    }

    /// Whether something listens on the socket at `path`.
    private static func isAnswered(_ path: String) -> Bool {
        guard let descriptor = UnixSocket.connect(to: path) else { return errno != ECONNREFUSED && errno != ENOENT }
        close(descriptor)
        return true
    }

    /// Restricts the bound socket to this user, and notes which file it is.
    mutating func noteBound() throws(Objection) {
        guard chmod(path, 0o600) == 0 else {
            throw Objection(description: "The mode of \(place.path) cannot be changed: \(Self.lastError).")
        }
        identity = Self.identity(of: path)
    }

    /// Leaves a link to the socket in `directory`, for commands with another environment; a file that is no link of
    /// ours stays.
    func link(in directory: String) {
        guard place.folder != directory else { return }
        let link = directory + "/" + ControlPlace.nameInCache
        var status = stat()
        if lstat(link, &status) == 0 {
            let isOurs = status.st_uid == geteuid() && [S_IFLNK, S_IFSOCK].contains(status.st_mode & S_IFMT)
            guard isOurs, unlink(link) == 0 else { return }
        }
        // Without it only commands with the same environment find the socket.
        _ = symlink(place.path, link)
    }

    /// Removes the socket, unless another server's has taken its place, and the link to it.
    func remove(directory: String?) {
        if let identity, let now = Self.identity(of: path), identity == now { unlink(path) }
        if let directory, place.folder != directory {
            let link = directory + "/" + ControlPlace.nameInCache
            if Self.target(of: link) == place.path { unlink(link) }
        }
        if let folder { close(folder) }
    }

    private static func identity(of path: String) -> (device: UInt64, number: UInt64)? {
        var status = stat()
        guard lstat(path, &status) == 0 else { return nil }
        return (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    }

    private static func target(of link: String) -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink(link, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self) : nil
    }

    private static var lastError: String { String(cString: strerror(errno)) }
}
