import HTTPSemantics
import Playlists
import Reprise

/// Chooses HLS playlists and MPDs, so that every link in them leads back to the proxy.
///
/// A playlist is known by its media type, by its extension, or by its first bytes if the type says nothing.
struct PlaylistFilter: BodyFilter {
    /// Called with a playlist that is sent as the origin sent it, because it exceeds a bound or is malformed.
    let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void
    private let variables: ImportedVariables

    init(isShared: Bool, onUneditable: @escaping @Sendable (ResourceURL, PlaylistError) -> Void) {
        variables = ImportedVariables(isShared: isShared)
        self.onUneditable = onUneditable
    }

    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        let limits = PlaylistLimits()
        guard information.completeLength.map({ $0 <= limits.size }) != false else { return nil }
        let type = MediaType(information.mediaType)?.essence
        let isDeclared = type.map(Self.types.contains) == true || Self.extensions.contains { url.pathEnds(with: $0) }
        // The beginning of a body that is not stored is not read to decide: the rest would need a second request.
        let isVague = type.map(Self.vagueTypes.contains) != false && !information.generation.isEmpty
        guard isDeclared || isVague && !url.namesMedia else { return nil }
        return PlaylistRewriter(
            isDeclared: isDeclared, limits: limits, variables: variables, onUneditable: onUneditable)
    }

    private static let types: Set<String> = [
        "application/dash+xml", "application/mpegurl", "application/vnd.apple.mpegurl", "application/x-mpegurl",
        "audio/mpegurl", "audio/x-mpegurl", "video/vnd.mpeg.dash.mpd", "video/vnd.mpegurl",
    ]
    private static let extensions = [".m3u8", ".m3u", ".mpd"]
    private static let vagueTypes: Set<String> = [
        "application/octet-stream", "application/xml", "binary/octet-stream", "text/plain", "text/xml",
    ]
}

extension ResourceURL {
    /// Whether the path, without its query, ends with `suffix` in any case.
    fileprivate func pathEnds(with suffix: String) -> Bool { lastPathComponent.lowercased().hasSuffix(suffix) }
}
