import Foundation
import RepriseTesting

/// An HLS stream that has ended, at a ``TestOrigin``.
final class HLSFilm {
    static let targetDuration = 6
    private static let mapLength: Int64 = 700

    /// Number of segments of each variant.
    let segments: Int
    let variants: Int
    private let origin: TestOrigin
    private let folder: String
    private let hasMaps: Bool
    /// Lengths of the files of media, by name.
    private(set) var lengths: [String: Int64] = [:]

    /// Publishes a stream; `length` is asked for each segment, and `link` for how a playlist names a file.
    init(
        at folder: String, of origin: TestOrigin, variants: Int = 2, segments: Int, hasMaps: Bool,
        length: () -> Int64, link: (String) -> String = { $0 }
    ) {
        (self.folder, self.origin, self.variants) = (folder, origin, variants)
        (self.segments, self.hasMaps) = (segments, hasMaps)
        var main = "#EXTM3U\n"
        for variant in 0..<variants {
            let name = "v\(variant).m3u8"
            main += "#EXT-X-STREAM-INF:BANDWIDTH=\(1000 * (variant + 1))\n\(link(name))\n"
            publishList(variant, at: name, length, link)
        }
        publishText(main, at: "main.m3u8")
    }

    var url: URL? { URL(string: origin.url(path(of: "main.m3u8"))) }

    func path(of name: String) -> String { "\(folder)/\(name)" }

    static func segmentName(_ variant: Int, _ segment: Int) -> String { "s\(variant)-\(segment).mp4" }
    static func mapName(_ variant: Int) -> String { "m\(variant).mp4" }

    /// The bytes of a segment or map; `nil` for a name that the stream does not have.
    func bytes(of name: String) -> [UInt8]? {
        lengths[name].map { TestPattern.bytes(in: 0..<$0, seed: seed(of: name)) }
    }

    /// Changes how the origin treats a segment or map.
    func republish(_ name: String, _ configure: (inout TestOrigin.Personality) -> Void) {
        guard let length = lengths[name] else { return }
        publishMedia(name, length: length, configure)
    }

    private func publishList(_ variant: Int, at name: String, _ length: () -> Int64, _ link: (String) -> String) {
        var list = "#EXTM3U\n#EXT-X-TARGETDURATION:\(Self.targetDuration)\n#EXT-X-PLAYLIST-TYPE:VOD\n"
        if hasMaps {
            let map = Self.mapName(variant)
            list += "#EXT-X-MAP:URI=\"\(link(map))\"\n"
            publishMedia(map, length: Self.mapLength)
        }
        for segment in 0..<segments {
            let name = Self.segmentName(variant, segment)
            list += "#EXTINF:\(Self.targetDuration),\n\(link(name))\n"
            publishMedia(name, length: length())
        }
        publishText(list + "#EXT-X-ENDLIST\n", at: name)
    }

    private func publishText(_ text: String, at name: String) {
        origin.set(
            TestOrigin.Resource(
                .bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl", etag: "\"\(name)\""),
            at: path(of: name))
    }

    private func publishMedia(
        _ name: String, length: Int64, _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
    ) {
        lengths[name] = length
        origin.set(
            TestOrigin.Resource(
                .pattern(seed: seed(of: name), length: length), mediaType: "video/mp4", etag: "\"\(name)\"",
                personality: TestOrigin.Personality(configure)), at: path(of: name))
    }

    private func seed(of name: String) -> UInt64 { name.utf8.reduce(7) { $0 &* 31 &+ UInt64($1) } }
}
