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

    /// Whether this is a web page.
    package var isHTML: Bool { essence == "text/html" || essence == "application/xhtml+xml" }

    /// Whether this is what servers send in place of a file to say why it is not there: a web page, or JSON.
    package var isNotice: Bool { isHTML || essence == "application/json" || essence.hasSuffix("+json") }

    /// Whether this type is definitely neither audio nor video: text, an image or a font.
    package var isOfOtherKind: Bool {
        isNotice || essence == "application/xml" || essence.hasSuffix("+xml")
            || ["text/", "image/", "font/"].contains { essence.hasPrefix($0) }
    }

    /// Whether this is audio, video, or bytes of no declared kind, which many servers use for media; false for a
    /// playlist.
    package var isMedia: Bool {
        if isPlaylist { return false }
        return isDeclaredMedia || Self.containers.contains(essence)
    }

    /// Whether this is called audio or video.
    package var isDeclaredMedia: Bool { essence.hasPrefix("audio/") || essence.hasPrefix("video/") }

    /// Whether this is a list of media files.
    package var isPlaylist: Bool { Self.playlists.contains(essence) }

    /// Whether this is a text, which programs may make for one user, unlike media.
    package var isText: Bool { essence.hasPrefix("text/") || isNotice || isPlaylist }

    private static let playlists: Set<String> = [
        "application/dash+xml", "application/mpegurl", "application/vnd.apple.mpegurl", "application/x-mpegurl",
        "audio/mpegurl", "audio/x-mpegurl", "audio/x-scpls", "video/vnd.mpeg.dash.mpd", "video/vnd.mpegurl",
    ]
    private static let containers: Set<String> = [
        "application/octet-stream", "application/mp4", "application/ogg", "application/x-matroska",
        "binary/octet-stream",
    ]

    var isMultipartByteRanges: Bool { essence == "multipart/byteranges" }
}
