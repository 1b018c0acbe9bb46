import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A path where a server may have its control socket.
package struct ControlPlace: Sendable, Equatable {
    /// The folder of the socket.
    package let folder: String
    /// The name of the socket in it.
    package let name: String
    /// Whether the folder is made if it is missing.
    package let isMade: Bool

    /// The whole path.
    package var path: String { folder + "/" + name }

    /// Its name in a cache's directory.
    package static let nameInCache = "control.sock"

    /// Where the server of the cache in `directory` puts its socket, the best place first; commands look at the same
    /// places, from the same `environment`.
    ///
    /// A service manager gives each service a folder of its own ($RUNTIME_DIRECTORY, systemd.exec(5)). The folder of a
    /// user ($XDG_RUNTIME_DIR) has a socket for each cache. The last place is in the cache's directory.
    package static func all(for directory: String, environment: [String: String]) -> [ControlPlace] {
        var places: [ControlPlace] = []
        // Several folders are separated by colons.
        if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first, folder.hasPrefix("/") {
            places.append(ControlPlace(folder: String(folder), name: "reprise.sock", isMade: false))
        }
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            let name = "\(CacheKey(realPath(directory)).hash.prefix(16)).sock"
            places.append(ControlPlace(folder: folder + "/reprise", name: name, isMade: true))
        }
        return places + [ControlPlace(folder: directory, name: nameInCache, isMade: false)]
    }

    /// Where a command looks for the server of the cache in `directory`: the nearest place first.
    package static func searched(for directory: String, environment: [String: String]) -> [ControlPlace] {
        all(for: directory, environment: environment).reversed()
    }

    /// The path without links; `directory` itself if it does not exist yet.
    package static func realPath(_ directory: String) -> String {
        guard let path = realpath(directory, nil) else { return directory }
        defer { free(path) }
        return String(cString: path)
    }

    /// The longest path that the address of a socket holds, in bytes, without the zero behind it (unix(7)).
    static let longestPath = UnixSocket.longestName - 1
}
