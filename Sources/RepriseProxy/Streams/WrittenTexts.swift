import Primitives
import Playlists
import Reprise

/// Playlists with their links written, as they were served last.
///
/// The links of a list of 1,000 segments take milliseconds to write, and players ask for live lists every few seconds.
/// In memory only; what was used longest ago goes when there is too much.
final class WrittenTexts: Sendable {
    /// What the text depends on, besides imported variables.
    struct Key: Hashable, Sendable {
        private enum Source: Hashable {
            case generation(String)
            /// What is not stored.
            case bytes(checksum: UInt64, count: Int)
        }

        private let source: Source
        private let url: ResourceURL
        private let base: ResourceURL
        private let prefix: String
        private let host: String?

        init(_ body: GatheredBody) {
            let generation = body.information.generation
            source =
                generation.isEmpty
                ? .bytes(checksum: body.bytes.withUnsafeBytes { XXHash64.checksum(of: $0) }, count: body.bytes.count)
                : .generation(generation)
            (url, base, prefix, host) = (body.url, body.base, body.prefix, body.host)
        }
    }

    /// A text, and what else came of reading the playlist.
    struct Text: Sendable {
        let bytes: [UInt8]
        /// The role of the playlist's stored response.
        let role: StreamRole
        /// The variables that it was written with.
        let imported: Variables?
    }

    private struct State {
        /// The one used last at the end.
        var entries: [(key: Key, text: Text)] = []
        var byteCount = 0
    }

    private static let capacity = 64

    /// Maximum size of all texts, in bytes.
    private let maximumBytes: Int
    /// A leaf.
    private let state = Mutex(State())

    init(maximumBytes: Int = 16 << 20) { self.maximumBytes = maximumBytes }

    /// The text for `key` that was written with these variables.
    func text(for key: Key, imported: Variables?) -> Text? {
        state.withLock { state in
            guard let index = state.entries.lastIndex(where: { $0.key == key && $0.text.imported == imported }) else {
                return nil
            }
            let entry = state.entries.remove(at: index)
            state.entries.append(entry)
            return entry.text
        }
    }

    /// Keeps a text; one that would take more than a quarter of the room is not kept.
    func keep(_ text: Text, for key: Key) {
        guard text.bytes.count <= maximumBytes / 4 else { return }
        state.withLock { state in
            if let index = state.entries.firstIndex(where: { $0.key == key }) {
                state.byteCount -= state.entries.remove(at: index).text.bytes.count
            }
            state.entries.append((key, text))
            state.byteCount += text.bytes.count
            while state.byteCount > maximumBytes || state.entries.count > Self.capacity {
                state.byteCount -= state.entries.removeFirst().text.bytes.count
            }
        }
    }
}
