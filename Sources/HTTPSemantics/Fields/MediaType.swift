/// The essence of a Content-Type, without parameters (RFC 9110 §8.3.1).
package struct MediaType: Equatable {
    /// `type/subtype` in lower case.
    package let essence: String

    package init?(_ value: String?) {
        guard let value, var scanner = FieldScanner(value), let type = scanner.token(), scanner.skip("/"),
            let subtype = scanner.token()
        else { return nil }
        essence = "\(type)/\(subtype)".lowercased()
    }

    var isHTML: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    /// Whether this is audio, video, or bytes of no declared kind, which many servers use for media; false for a
    /// playlist.
    package var isMedia: Bool {
        if Self.playlists.contains(essence) { return false }
        return essence.hasPrefix("audio/") || essence.hasPrefix("video/") || Self.containers.contains(essence)
    }

    private static let playlists: Set<String> = [
        "audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls", "video/vnd.mpegurl",
    ]
    private static let containers: Set<String> = [
        "application/octet-stream", "application/mp4", "application/ogg", "application/x-matroska",
        "binary/octet-stream",
    ]

    var isMultipartByteRanges: Bool { essence == "multipart/byteranges" }
}
