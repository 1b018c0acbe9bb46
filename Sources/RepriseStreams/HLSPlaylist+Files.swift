import Playlists
import Reprise

extension HLSPlaylist {
    /// The keys that hold together as a set and that can be fetched; none if a key stands in the playlist.
    ///
    /// One that every player can use is enough. Throws ``RepriseError`` with code `notDownloadable` if there is none.
    func fetchableKeys(in keySet: Int, base: URIReference) throws(RepriseError) -> [URIReference] {
        let encrypting = media.keySets[keySet].map { media.keys[$0] }.filter { $0.method != .none }
        guard !encrypting.isEmpty else { return [] }
        let usable = encrypting.filter(\.isIdentity)
        guard !usable.isEmpty else { throw PlaylistPlanner.isProtected }
        var targets: [URIReference] = []
        for link in usable.compactMap(\.link) {
            switch target(of: links[link], base: base) {
            case .fetchable(let target): targets.append(target)
            case .leftAlone(.scheme("data")): break
            case .leftAlone: throw PlaylistPlanner.isProtected
            }
        }
        return targets
    }
}

extension LinkTarget {
    /// Where a file of media is; `nil` if it stands in the playlist itself.
    ///
    /// Throws ``RepriseError`` with code `notDownloadable` if it cannot be fetched over HTTP.
    var mediaFile: URIReference? {
        get throws(RepriseError) {
            switch self {
            case .fetchable(let uri): return uri
            case .leftAlone(.scheme("data")): return nil
            case .leftAlone(let reason):
                throw RepriseError(
                    .notDownloadable, "The stream has a file that cannot be fetched over HTTP: \(reason.words).")
            }
        }
    }
}

extension URIReference {
    /// The file, or `nil` if the reference is no URL.
    func streamFile(isKey: Bool = false) -> StreamFile? {
        guard let url = try? ResourceURL(withoutFragment.text) else { return nil }
        return StreamFile(url: url, isKey: isKey)
    }
}

extension LinkTarget.Reason {
    /// What is wrong with the address, for people.
    fileprivate var words: String {
        switch self {
        case .scheme(let scheme): "its address begins with \(scheme.prefix(Self.mostShown)):"
        case .userInformation: "its address has a user name or a password"
        case .noHost: "its address has no host"
        case .unreadable: "its address cannot be read"
        }
    }

    /// Most characters of a scheme that are shown.
    private static let mostShown = 32
}
