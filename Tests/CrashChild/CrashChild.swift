import Foundation
import HTTPSemantics
import Primitives
import Reprise
import RepriseHTTPClient
import RepriseStreams
import RepriseTesting

/// Plays random ranges from a cache until it is killed, or until it reaches a crash point and kills itself.
///
/// Ends with status 3 when a byte is wrong, 4 when the cache does not open. Prints READY when it is open.
@main
enum CrashChild {
    /// The settings passed by the tests.
    struct Settings: Codable, Sendable {
        var directory: String
        /// URL of each medium, without the number at its end.
        var url: String
        var lengths: [Int64]
        var seed: UInt64
        var limit: Int64
        var recordMilliseconds: Int64
        var readers: Int
        /// 64 hexadecimal digits, for an encrypted cache.
        var key: String?
        /// Whether a cache with another key is emptied.
        var resets: Bool
        /// Where to die, and at which passage.
        var crashPoint: String?
        var passage: Int
        /// Media to keep, from the second on.
        var pinned: Int
        /// The URL of a stream's playlist: download it, and exit.
        var stream: String?
        /// Play each medium once, in order and completely, and exit.
        var isFinal: Bool
    }

    static func main() async throws {
        let settings = try JSONDecoder().decode(Settings.self, from: Data(CommandLine.arguments[1].utf8))
        let origin = NIOOrigin()
        let cache: MediaCache
        do {
            cache = try await MediaCache.open(
                directory: settings.directory, origin: origin, configuration: configuration(settings))
        } catch {
            say("cannot open: \(error)")
            exit(4)
        }
        say("READY")
        for index in 1..<1 + settings.pinned {
            try await cache.retain(cache.resource(for: "\(settings.url)\(index)"), as: .pinned(until: nil))
        }
        if let stream = settings.stream { try await download(stream, with: cache) }
        if settings.isFinal {
            for index in settings.lengths.indices { await play(cache, settings, index, nil) }
            await cache.close()
            say("DONE")
            exit(0)
        }
        await withTaskGroup(of: Void.self) { group in
            for reader in 0..<settings.readers {
                group.addTask {
                    var random = SeededGenerator(seed: settings.seed &* 31 &+ UInt64(reader))
                    while true { await step(cache, settings, &random) }
                }
            }
        }
    }

    private static func configuration(_ settings: Settings) -> MediaCache.Configuration {
        var configuration = MediaCache.Configuration()
        configuration.limit = settings.limit
        configuration.recordDelay = .milliseconds(settings.recordMilliseconds)
        configuration.retry.firstDelay = .milliseconds(1)
        configuration.downloadsStreams = settings.stream != nil
        configuration.resetsWhenKeyDiffers = settings.resets
        if let key = settings.key.flatMap({ KeyFile.key(hexadecimal: $0) }) {
            configuration.encryption = CacheEncryption(key: key)
        }
        let passages = Mutex(0)
        if let name = settings.crashPoint {
            let passage = settings.passage
            configuration.reached = { point in
                guard point.rawValue == name else { return }
                let isHere = passages.withLock { passages in
                    passages += 1
                    return passages == passage
                }
                if isHere { kill(getpid(), SIGKILL) }
            }
        }
        return configuration
    }

    /// Ends with status 7 if the download fails.
    private static func download(_ stream: String, with cache: MediaCache) async throws {
        try await cache.downloads.add(
            try cache.resource(for: stream), selection: StreamSelection(audio: .all, subtitles: .all))
        for await list in cache.downloads.updates(every: .zero) {
            if let error = list.first?.state.error {
                say("FAILED stream: \(error)")
                exit(7)
            }
            if case .done = list.first?.state { break }
        }
        await cache.close()
        say("DONE")
        exit(0)
    }

    private static func step(_ cache: MediaCache, _ settings: Settings, _ random: inout SeededGenerator) async {
        let index = Int.random(in: 0..<settings.lengths.count, using: &random)
        let length = settings.lengths[index]
        if Int.random(in: 0..<20, using: &random) == 0 {
            _ = try? await cache.remove(CacheKey("\(settings.url)\(index)"))
            return
        }
        if Int.random(in: 0..<8, using: &random) == 0 { return await play(cache, settings, index, nil) }
        let start = Int64.random(in: 0..<length, using: &random)
        let end = min(length, start + Int64.random(in: 1..<800_000, using: &random))
        await play(cache, settings, index, start..<end)
    }

    private static func play(_ cache: MediaCache, _ settings: Settings, _ index: Int, _ range: Range<Int64>?) async {
        do {
            let resource = try cache.resource(for: "\(settings.url)\(index)")
            let read = try await resource.read(range.map { .bounded($0) })
            var position = range?.lowerBound ?? 0
            while let piece = try await read.next() {
                let bytes = try piece.bytes()
                let end = position + Int64(bytes.count)
                if bytes != TestPattern.bytes(in: position..<end, seed: UInt64(index)) {
                    say("WRONG medium \(index) in \(position)..<\(end)")
                    exit(3)
                }
                position = end
            }
            if position != range?.upperBound ?? settings.lengths[index] {
                say("SHORT medium \(index): \(position)")
                exit(5)
            }
        } catch {
            // A read whose entry is removed during it ends with an error, which is not a wrong byte.
            if settings.isFinal {
                say("FAILED medium \(index): \(error)")
                exit(6)
            }
        }
    }

    private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }
}
