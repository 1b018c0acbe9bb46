import Playlists
import Testing

/// SplitMix64: the same seed gives the same test on every machine.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

/// Where playlists of these tests come from, unless they say otherwise.
let listURL = "https://a.example/v/x/list.m3u8"

/// A list of this text.
func hls(_ text: String, url: String = listURL, imported: Variables? = nil) throws -> HLSPlaylist {
    try HLSPlaylist(Array(text.utf8), context: HLSContext(url: URIReference(url), imported: imported))
}

/// A media playlist whose only segment has this URI.
func mediaList(_ uri: String, before: String = "") -> String {
    "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(before)#EXTINF:4,\n\(uri)\n"
}

/// The links as they stand in the text, with their kinds.
func spans(_ playlist: Playlist) -> [String] {
    playlist.links.map { "\($0.kind) \(String(decoding: playlist.bytes[$0.place], as: UTF8.self))" }
}

/// What a list becomes when each link is written as a path of a proxy at `http://127.0.0.1:8090`.
///
/// A plain version of the rule that the proxy follows: links that reach the proxy by themselves stay as they are.
func rewritten(_ text: String, url: String = listURL, isRedirected: Bool = false, imported: Variables? = nil)
    throws -> String
{
    let base = URIReference(url)
    let context = HLSContext(url: base, imported: imported)
    let playlist = try Playlist(Array(text.utf8), context: context)
    var editor = PlaylistEditor(playlist.bytes)
    for link in playlist.links {
        guard case .fetchable(let target) = playlist.target(of: link, base: base) else { continue }
        let isPlain = link.decoded == nil && !isRedirected && link.kind != .interstitialAsset
        let form = playlist.reference(of: link).form
        if isPlain, case .relativePath(let climbing) = form, climbing <= base.directoryDepth { continue }
        if isPlain, form == .query { continue }
        let path =
            "/\(target.scheme ?? "")/\(target.authority ?? "")\(target.path)\(target.query.map { "?\($0)" } ?? "")"
        try editor.replace(link, with: (link.kind == .interstitialAsset ? "http://127.0.0.1:8090" : "") + path)
    }
    return String(decoding: try editor.edited(), as: UTF8.self)
}

/// The line of the only segment of ``mediaList(_:before:)`` after rewriting.
func rewrittenLine(_ uri: String, before: String = "", url: String = listURL, isRedirected: Bool = false) throws
    -> String
{
    let text = try rewritten(mediaList(uri, before: before), url: url, isRedirected: isRedirected)
    let prefix = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n\(before)#EXTINF:4,\n"
    #expect(text.hasPrefix(prefix) && text.hasSuffix("\n"))
    return String(text.dropFirst(prefix.count).dropLast())
}

/// The error of a failing call.
func failure(_ body: () throws -> Void) -> PlaylistError? {
    do {
        try body()
        return nil
    } catch {
        return error as? PlaylistError
    }
}
