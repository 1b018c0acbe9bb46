import Foundation

/// The tokens of a server, which must never reach an origin or a log.
///
/// A token is found where it is a word: between other characters than the letters, digits and `-._~` that tokens are
/// made of. Words are looked up by their hash, in a time that does not tell how much of one is right.
struct TokenTexts: Sendable {
    let texts: Set<String>
    private let lengths: Set<Int>

    /// How many layers of percent-encoding are looked through.
    private static let mostLayers = 3

    init(_ texts: Set<String>) {
        self.texts = texts
        lengths = Set(texts.map(\.utf8.count))
    }

    /// Whether a token is a word of `value`: as it is, percent-encoded (RFC 3986 §2.1), or in credentials of the scheme
    /// Basic (RFC 7617 §2).
    func isShown(in value: String) -> Bool {
        guard !texts.isEmpty else { return false }
        var bytes = Array(value.utf8)
        for _ in 0...Self.mostLayers {
            if hasToken(bytes) { return true }
            guard let decoded = Self.decoded(bytes) else { break }
            bytes = decoded
        }
        return value.lowercased().contains("basic")
            && value.split(whereSeparator: { " \t,".contains($0) }).contains { word in
                Data(base64Encoded: String(word)).map { hasToken(Array($0)) } ?? false
            }
    }

    /// `text` with `-` in place of what shows a token between spaces, quotes and slashes.
    func hidden(in text: String) -> String {
        guard isShown(in: text) else { return text }
        var result = ""
        var rest = text[...]
        while let character = rest.first {
            let part = rest.prefix { !" \t\"'/".contains($0) }
            guard part.isEmpty else {
                result += isShown(in: String(part)) ? "-" : part
                rest = rest.dropFirst(part.count)
                continue
            }
            result.append(character)
            rest = rest.dropFirst()
        }
        return isShown(in: result) ? "-" : result
    }

    private func hasToken(_ bytes: [UInt8]) -> Bool {
        bytes.split { !Self.isOfToken($0) }
            .contains { lengths.contains($0.count) && texts.contains(String(decoding: $0, as: UTF8.self)) }
    }

    /// Letters, digits, and the marks that need no encoding (RFC 3986 §2.3).
    private static func isOfToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: false
        }
    }

    /// `bytes` with one layer of percent-encoding removed; `nil` if there is none.
    private static func decoded(_ bytes: [UInt8]) -> [UInt8]? {
        var result: [UInt8] = []
        var index = 0
        while index < bytes.count {
            if bytes[index] == UInt8(ascii: "%"), index + 2 < bytes.count,
                let value = UInt8(String(decoding: bytes[index + 1...index + 2], as: UTF8.self), radix: 16)
            {
                result.append(value)
                index += 3
            } else {
                result.append(bytes[index])
                index += 1
            }
        }
        return result.count == bytes.count ? nil : result
    }
}
