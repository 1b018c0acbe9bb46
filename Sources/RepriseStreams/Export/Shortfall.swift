import Reprise

/// Why a track cannot be exported.
enum Shortfall: Equatable {
    /// It has no end yet.
    case live
    /// Only a player's system can get its keys.
    case protected
    /// Its own playlist is not stored, or cannot be read.
    case unlisted
    /// So many of its segments are not stored, or so many keys, or a file that all segments need.
    case missing(segments: Int, of: Int, keys: Int, maps: Int)
    /// It lists nothing to play.
    case empty

    /// The error if nothing of the stream at `url` can be exported because of these tracks.
    static func error(_ tracks: [(name: String, shortfall: Shortfall)], of url: ResourceURL) -> RepriseError {
        let kinds = tracks.map(\.shortfall)
        if kinds.contains(.live) {
            return RepriseError(.notDownloadable, "The stream is live: it has no end yet. Export it when it has ended.")
        }
        if kinds.contains(.protected), kinds.allSatisfy({ $0 == .protected || $0 == .unlisted }) {
            return RepriseError(
                .notDownloadable, "The stream is protected (DRM): only the player's system can get its keys.")
        }
        let shown = tracks.prefix(3).map { "\($0.name): \($0.shortfall.words)" }
        let rest = tracks.count > shown.count ? "; and so on for \(tracks.count - shown.count) more" : ""
        let list = shown.isEmpty ? "" : " (\(shown.joined(separator: "; "))\(rest))"
        return RepriseError(
            .notStored, "No track of \(url.redacted) is stored as a whole\(list). Download the stream first.")
    }

    private var words: String {
        switch self {
        case .live: "it has no end yet"
        case .protected: "it is protected (DRM)"
        case .unlisted: "its playlist is not stored"
        case .empty: "it lists no segments"
        case .missing(let segments, let count, let keys, let maps):
            [
                segments > 0 ? "\(segments) of \(count) segments" : nil,
                keys > 0 ? "\(keys) \(keys == 1 ? "key" : "keys")" : nil,
                maps > 0 ? "\(maps) \(maps == 1 ? "initialization section" : "initialization sections")" : nil,
            ].compactMap { $0 }.joined(separator: " and ") + " missing"
        }
    }
}
