/// The URLs that request fields are good for which were given for one of them: those in its folder and below it, at the
/// same origin, as for Basic authentication (RFC 7617 §2.2), and in the same partition.
struct AuthorizationScope: Hashable, Sendable {
    private let partition: String?
    private let scheme: ResourceURL.Scheme
    private let authority: String
    /// The path up to its last slash.
    private let folder: Substring

    /// Folders around a URL that are looked at: the innermost ones count in a path with more.
    private static let mostFolders = 32

    private init(_ url: ResourceURL, partition: String?, folder: Substring) {
        (self.partition, self.folder) = (partition, folder)
        (scheme, authority) = (url.scheme, url.authority)
    }

    /// The scope of what is given for `url`.
    init(of url: ResourceURL, in partition: String?) {
        self.init(url, partition: partition, folder: Self.folder(Self.path(of: url)))
    }

    /// The scopes that `url` lies in, from its own folder outwards.
    static func scopes(of url: ResourceURL, in partition: String?) -> [Self] {
        var scopes: [Self] = []
        var rest = path(of: url)
        while scopes.count < mostFolders, rest.contains("/") {
            let folder = folder(rest)
            scopes.append(Self(url, partition: partition, folder: folder))
            rest = folder.dropLast()
        }
        return scopes
    }

    private static func path(of url: ResourceURL) -> Substring { url.target.prefix { $0 != "?" } }

    private static func folder(_ path: Substring) -> Substring {
        path.lastIndex(of: "/").map { path[...$0] } ?? ""
    }
}
