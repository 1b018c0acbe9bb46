import Reprise
import RepriseHTTPClient
import RepriseTesting

/// What preloading a feed brings and costs; prints a Markdown table.
///
///     swift run -c release FeedBenchmark [clips [kB/s]]
///
/// A person swipes through clips of one host, in each round the same ones. Time runs ten times as fast as in the world:
/// one connection brings 2,500 kB a second of it, and the first byte takes 80 ms. Nothing is asserted.
@main
enum FeedBenchmark {
    private static let firstByte = 0.08

    private static let rounds: [(name: String, amount: (@Sendable (Int) -> PreloadAmount?)?)] = [
        ("off", nil),
        ("500 kB of the next three", { 1...3 ~= $0 ? .bytes(500_000) : nil }),
        ("2 MB of the next three", { 1...3 ~= $0 ? .bytes(2_000_000) : nil }),
        ("2 s of the next three", { 1...3 ~= $0 ? .seconds(2) : nil }),
        ("seconds by distance (the default)", PreloadAmount.atDistance),
    ]

    static func main() async throws {
        let numbers = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        let clips = Array(try Clip.feed().prefix(numbers.first ?? .max))
        let rate = Double(numbers.dropFirst().first ?? 2500) * 1000
        print("| preloaded | starts from disk | start ms: median | 95 % | waited s | fetched MB | never played |")
        print("|---|---|---|---|---|---|---|")
        for round in rounds { try await play(clips, at: rate, named: round.name, amount: round.amount) }
    }

    private static func play(
        _ clips: [Clip], at bytesPerSecond: Double, named name: String, amount: ((Int) -> PreloadAmount?)?
    ) async throws {
        let origin = try await TestOrigin.start(sendBufferSize: 256 << 10)
        for clip in clips {
            let personality = TestOrigin.Personality {
                $0.bytesPerSecond = Int(bytesPerSecond * FeedPlayer.pace)
                $0.latency = .seconds(firstByte / FeedPlayer.pace)
            }
            origin.set(
                TestOrigin.Resource(.bytes(clip.content), mediaType: "audio/wav", personality: personality),
                at: clip.path)
        }
        let client = NIOOrigin()
        let directory = try TemporaryDirectory(prefix: "reprise-feed")
        let cache = try await MediaCache.open(directory: directory.path, origin: client)
        let resources = try clips.map { try cache.resource(for: origin.url($0.path)) }
        var outcomes: [FeedPlayer.Outcome] = []
        for (index, clip) in clips.enumerated() {
            if let amount { cache.preload(resources, current: index, amount: amount) }
            outcomes.append(try await FeedPlayer(resource: resources[index], clip: clip).play())
        }
        await cache.close()
        await client.shutdown()
        let fetched = await origin.settledSnapshot().bodyBytesSent
        await origin.stop()
        directory.remove()
        let played = clips.reduce(0) { $0 + $1.end(of: $1.watched) }
        let starts = outcomes.map(\.start).sorted()
        let stored = outcomes.count { $0.wasStored }
        print(
            "| \(name) | \(stored) of \(clips.count) | \(milliseconds(starts[starts.count / 2]))"
                + " | \(milliseconds(starts[starts.count * 95 / 100]))"
                + " | \(tenths(outcomes.reduce(0) { $0 + $1.waited })) | \(tenths(Double(fetched) / 1e6))"
                + " | \(Int((Double(fetched - played) / Double(fetched) * 100).rounded())) % |")
    }

    private static func milliseconds(_ seconds: Double) -> Int { Int((seconds * 1000).rounded()) }
    private static func tenths(_ number: Double) -> Double { (number * 10).rounded() / 10 }
}
