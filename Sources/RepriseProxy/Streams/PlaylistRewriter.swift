import Playlists
import Reprise

/// Writes the links of a playlist so that a player resolves each of them to this proxy.
///
/// A link that does so by itself stays as the origin wrote it, as do links that are never fetched: other schemes, user
/// information, clocks, and those that lead to this proxy already.
struct PlaylistRewriter: BodyEditor {
    /// Whether the media type or the extension says that it is a playlist.
    let isDeclared: Bool
    let limits: PlaylistLimits
    let variables: ImportedVariables
    let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void

    var maximumLength: Int { limits.size }

    var looksFirst: Bool { !isDeclared }

    func accepts(_ beginning: [UInt8]) -> Bool { PlaylistFormat(of: beginning) != nil }

    func edit(_ body: GatheredBody) async throws -> [UInt8]? {
        do {
            return try rewritten(body)
        } catch {
            if error.code != .notAPlaylist { onUneditable(body.url, error) }
            return nil
        }
    }

    private func rewritten(_ body: GatheredBody) throws(PlaylistError) -> [UInt8]? {
        let context = HLSContext(url: URIReference(body.base.description), imported: variables.imported(by: body.url))
        let playlist = try Playlist(body.bytes, context: context, limits: limits)
        let links = ProxyLinks(playlist, of: body)
        var editor = PlaylistEditor(body.bytes, limits: limits)
        for link in playlist.links {
            if let uri = links.replacement(of: link) { try editor.replace(link, with: uri) }
        }
        if case .hls(let list) = playlist { variables.note(list, from: URIReference(body.base.description)) }
        return editor.isUnchanged ? nil : try editor.edited()
    }
}
