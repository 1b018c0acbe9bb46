import Primitives

/// The kind of content that the first bytes of a body reveal, regardless of its media type.
package enum BodyBeginning: Sendable, Hashable {
    /// Readable text, such as an error message, a web page or a playlist.
    case text
    /// A PNG, GIF or JPEG image.
    case picture
    /// Anything else, such as an audio or video container.
    case binary

    /// Number of bytes to inspect.
    package static let length = 512

    /// Inspects the first bytes of a body; `nil` if there are none.
    package init?(_ bytes: [UInt8]) {
        let bytes = bytes.prefix(Self.length)
        guard !bytes.isEmpty else { return nil }
        if Self.pictures.contains(where: { bytes.starts(with: $0) }) {
            self = .picture
        } else {
            self = Self.isText(bytes) ? .text : .binary
        }
    }

    /// Whether the text begins like a WebVTT, TTML or SubRip file.
    package static func isSubtitle(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(length), as: UTF8.self).drop { $0 == "\u{FEFF}" }
        return head.hasPrefix("WEBVTT") || head.contains("<tt ") || head.contains("<tt:tt") || head.contains(" --> ")
    }

    /// Whether a text begins like HTML, XML or JSON.
    package static func isMarkup(_ bytes: [UInt8]) -> Bool {
        let first = bytes.first { !(0x09...0x0D).contains($0) && ![0x20, 0xEF, 0xBB, 0xBF].contains($0) }
        return first.map { "<{[".utf8.contains($0) } ?? false
    }

    /// The signatures of PNG, GIF and JPEG.
    private static let pictures: [[UInt8]] = [
        [0x89, 0x50, 0x4E, 0x47], [0x47, 0x49, 0x46, 0x38], [0xFF, 0xD8, 0xFF],
    ]

    /// Whether the bytes are UTF-8 or mostly ASCII, without control characters.
    ///
    /// Every media container has control characters, such as the zero bytes in its length fields.
    private static func isText(_ bytes: ArraySlice<UInt8>) -> Bool {
        let isPrintable = bytes.allSatisfy { $0 >= 0x20 && $0 != 0x7F || (0x09...0x0D).contains($0) || $0 == 0x1B }
        guard isPrintable else { return false }
        // The last character may be truncated.
        return bytes.count { $0 >= 0x80 } < bytes.count / 4
            || (0...3).contains { String(utf8: bytes.dropLast($0)) != nil }
    }
}
