/// How segments are encrypted: `EXT-X-KEY` or `EXT-X-SESSION-KEY` (rfc8216bis §4.4.4.4).
package struct Key: Hashable, Sendable {
    /// `METHOD`.
    package enum Method: Hashable, Sendable {
        /// `NONE`: not encrypted.
        case none
        /// `AES-128`: whole segments, CBC.
        case aes128
        /// `AES-256-GCM`: whole segments.
        case aes256GCM
        /// `SAMPLE-AES`.
        case sampleAES
        /// `SAMPLE-AES-CTR`.
        case sampleAESCTR
        /// A method that no draft knows, or none.
        case other(String)

        init(_ name: String) {
            switch name {
            case "NONE": self = .none
            case "AES-128": self = .aes128
            case "AES-256-GCM": self = .aes256GCM
            case "SAMPLE-AES": self = .sampleAES
            case "SAMPLE-AES-CTR": self = .sampleAESCTR
            default: self = .other(name)
            }
        }
    }

    /// How it encrypts.
    package internal(set) var method = Method.other("")
    /// `KEYFORMAT`; `identity`, the key itself, by default.
    package internal(set) var format = "identity"
    /// `KEYFORMATVERSIONS`.
    package internal(set) var formatVersions: String?
    /// `IV` as written; `nil` if the media sequence number is the initialization vector.
    package internal(set) var initializationVector: String?
    /// Index in ``HLSPlaylist/links``; `nil` without a URI.
    package internal(set) var link: Int?
    /// The whole line.
    package internal(set) var line: Range<Int>

    /// Whether the link names a file with the key's bytes; other formats belong to a rights system.
    package var isIdentity: Bool { format == "identity" }
}
