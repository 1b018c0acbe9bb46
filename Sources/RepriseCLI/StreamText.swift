import Playlists

/// The playlist of a stream, as its first bytes show it.
enum StreamText {
    /// Whether a file that begins with `bytes` is one, and no plain list of songs in the same syntax.
    static func begins(_ bytes: [UInt8]) -> Bool {
        switch PlaylistFormat(of: bytes) {
        case .hls: String(decoding: bytes.prefix(64 << 10), as: UTF8.self).contains("#EXT-X-")
        case .dash: true
        case nil: false
        }
    }
}
