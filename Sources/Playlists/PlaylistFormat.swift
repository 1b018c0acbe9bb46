/// The two formats of playlists, known by how they begin.
package enum PlaylistFormat: Hashable, Sendable {
    /// HTTP Live Streaming: `#EXTM3U`.
    case hls
    /// DASH: an XML document whose first element is `MPD`, or `Patch` of an MPD.
    case dash

    /// What the beginning of a text shows.
    package enum Look: Hashable, Sendable {
        case format(PlaylistFormat)
        /// It is no playlist, whatever follows.
        case none
        /// The bytes that follow decide.
        case undecided
    }

    /// Looks at the beginning of a text; `nil` if it begins no playlist.
    ///
    /// Before `#EXTM3U` there may be a byte order mark, blank lines and comments, before `<MPD` also an XML
    /// declaration, comments and processing instructions.
    package init?(of bytes: some Collection<UInt8>) {
        guard case .format(let format) = Self.look(at: bytes) else { return nil }
        self = format
    }

    /// Looks at the beginning of a text as ``init(of:)`` does.
    package static func look(at bytes: some Collection<UInt8>) -> Look {
        if isUTF16(bytes) { return lookInUTF16(Array(bytes)) }
        let head = Array(bytes)
        if head.count < 3, Array("\u{FEFF}".utf8).starts(with: head) { return .undecided }
        var index = head.hasPrefix("\u{FEFF}", at: 0) ? 3 : 0
        while index < head.count {
            if head[index].isSpace {
                index += 1
            } else if head[index] == UInt8(ascii: "#") {
                if beginsHLS(head, at: index) { return .format(.hls) }
                index = head[index...].firstIndex { $0 == 0x0A || $0 == 0x0D } ?? head.count
            } else {
                guard head[index] == UInt8(ascii: "<") else { return .none }
                return lookForMPD(head, at: index)
            }
        }
        return .undecided
    }

    /// Whether a media type, in lower case and without parameters, or the extension of a file's name says that it is a
    /// playlist.
    package static func isDeclared(by mediaType: String?, name: String) -> Bool {
        if let mediaType, types.contains(mediaType) { return true }
        let name = name.lowercased()
        return extensions.contains { name.hasSuffix($0) }
    }

    /// Whether a media type, in lower case and without parameters, or the extension of a file's name says that it is
    /// the playlist of a stream, and no plain list of files.
    package static func isStreamDeclared(by mediaType: String?, name: String) -> Bool {
        if let mediaType, streamTypes.contains(mediaType) { return true }
        let name = name.lowercased()
        return streamExtensions.contains { name.hasSuffix($0) }
    }

    /// Whether a text begins with the UTF-16 byte order mark, in either byte order.
    package static func isUTF16(_ bytes: some Collection<UInt8>) -> Bool {
        bytes.starts(with: [0xFF, 0xFE]) || bytes.starts(with: [0xFE, 0xFF])
    }

    private static let streamTypes: Set<String> = [
        "application/dash+xml", "application/dash-patch+xml", "application/mpegurl", "application/vnd.apple.mpegurl",
        "application/x-mpegurl", "video/vnd.mpeg.dash.mpd", "video/vnd.mpegurl",
    ]
    private static let types = streamTypes.union(["audio/mpegurl", "audio/x-mpegurl"])
    private static let streamExtensions = [".m3u8", ".mpd"]
    private static let extensions = streamExtensions + [".m3u"]

    /// Looks for an M3U list in UTF-16, which some programs write and mpv reads.
    private static func lookInUTF16(_ head: [UInt8]) -> Look {
        let low = head[0] == 0xFF ? 0 : 1
        let name = Array("#EXTM3U".utf8)
        for (index, byte) in name.enumerated() {
            let place = 2 + 2 * index
            guard place + 1 < head.count else { return .undecided }
            guard head[place + low] == byte, head[place + 1 - low] == 0 else { return .none }
        }
        return .format(.hls)
    }

    private static func beginsHLS(_ head: [UInt8], at index: Int) -> Bool {
        guard head.hasPrefix("#EXTM3U", at: index) else { return false }
        let end = index + 7
        return end == head.count || head[end].isSpace
    }

    /// Skips declarations, comments and instructions before the first element.
    private static func lookForMPD(_ head: [UInt8], at start: Int) -> Look {
        var index = start
        while index < head.count {
            if head[index].isSpace {
                index += 1
                continue
            }
            let rest = index..<head.count
            let end: StaticString
            if head.hasPrefix("<?", at: index) {
                end = "?>"
            } else if head.hasPrefix("<!--", at: index) {
                end = "-->"
            } else if head.hasPrefix("<!", at: index) {
                // A document type: recognized, and refused by the parser.
                end = ">"
            } else {
                return lookForRoot(head, at: index)
            }
            guard let place = head.firstPlace(of: end, in: rest) else { return .undecided }
            index = place + end.utf8CodeUnitCount
        }
        return .undecided
    }

    private static let slash = UInt8(ascii: "/")

    /// Whether `<MPD` or `<Patch` stands here, with or without a namespace prefix.
    private static func lookForRoot(_ head: [UInt8], at index: Int) -> Look {
        guard head[index] == UInt8(ascii: "<") else { return .none }
        let found = head[(index + 1)...].firstIndex { $0.isSpace || $0 == UInt8(ascii: ">") || $0 == slash }
        let name = index + 1..<(found ?? head.count)
        let local = (head[name].lastIndex(of: UInt8(ascii: ":")).map { $0 + 1 } ?? name.lowerBound)..<name.upperBound
        if head.matches(local, text: "MPD") || head.matches(local, text: "Patch") { return .format(.dash) }
        return found == nil ? .undecided : .none
    }
}
