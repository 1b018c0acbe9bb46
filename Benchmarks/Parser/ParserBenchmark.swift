import HTTPSemantics
import NIOCore
import NIOEmbedded
import NIOHTTP1
import RepriseProxy

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// The processor time for one request's head, with ``RequestParser`` and with NIO's decoder; prints a Markdown table.
///
///     swift run -c release ParserBenchmark [rounds]
///
/// Both run as handlers of an embedded channel, get each head in one piece, and look up the fields on which the answer
/// to a GET depends. The cost of the channel alone is subtracted. Contestants alternate round by round. Nothing is
/// asserted.
@main
enum ParserBenchmark {
    private static let requests = 20_000

    static func main() throws {
        let rounds = CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 15
        print("| head of | bytes | fields | RequestParser ns | NIO's decoder ns | ratio: median (extremes) |")
        print("|---|---|---|---|---|---|")
        for (name, lines) in heads { try measure(name, lines, rounds) }
    }

    private static func measure(_ name: String, _ lines: [String], _ rounds: Int) throws {
        let head = ByteBuffer(string: lines.joined(separator: "\r\n") + "\r\n\r\n")
        let (empty, own, nio) = (EmbeddedChannel(), EmbeddedChannel(), EmbeddedChannel())
        try empty.pipeline.syncOperations.addHandler(Sink())
        try own.pipeline.syncOperations.addHandler(OwnParser())
        try nio.pipeline.syncOperations.addHandlers(ByteToMessageHandler(HTTPRequestDecoder()), DecodedHeads())
        var (owns, nios, ratios): ([Double], [Double], [Double]) = ([], [], [])
        for _ in 0..<rounds {
            let base = try nanoseconds(empty, head)
            owns.append(try nanoseconds(own, head) - base)
            nios.append(try nanoseconds(nio, head) - base)
            ratios.append(owns[owns.count - 1] / nios[nios.count - 1])
        }
        for channel in [empty, own, nio] { _ = try channel.finish(acceptAlreadyClosed: true) }
        ratios.sort()
        let extremes = "\(hundredths(ratios[0]))–\(hundredths(ratios[ratios.count - 1]))"
        print(
            "| \(name) | \(head.readableBytes) | \(lines.count - 1) | \(Int(median(owns))) | \(Int(median(nios))) |"
                + " \(hundredths(median(ratios))) (\(extremes)) |")
    }

    /// Processor time per head.
    private static func nanoseconds(_ channel: EmbeddedChannel, _ head: ByteBuffer) throws -> Double {
        let start = processorTime()
        for _ in 0..<requests {
            // A buffer of its own, as from a socket.
            var bytes = channel.allocator.buffer(capacity: 2048)
            bytes.writeImmutableBuffer(head)
            try channel.writeInbound(bytes)
        }
        return (processorTime() - start) / Double(requests)
    }

    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
    }

    private static func median(_ values: [Double]) -> Double { values.sorted()[values.count / 2] }
    private static func hundredths(_ value: Double) -> Double { (value * 100).rounded() / 100 }

    /// What players send.
    private static let heads: [(String, [String])] = [
        (
            "curl",
            [
                "GET /https/media.example.com/film.mp4 HTTP/1.1", "Host: 127.0.0.1:8090", "Range: bytes=0-16383",
                "User-Agent: curl/8.5.0", "Accept: */*",
            ]
        ),
        (
            "mpv",
            [
                "GET /https/media.example.com/film.mp4 HTTP/1.1", "User-Agent: Lavf/61.7.100", "Accept: */*",
                "Range: bytes=1048576-", "Connection: keep-alive", "Host: 127.0.0.1:8090", "Icy-MetaData: 1",
            ]
        ),
        (
            "AVPlayer",
            [
                "GET /https/media.example.com/film.mp4 HTTP/1.1", "Host: 127.0.0.1:8090",
                "X-Playback-Session-Id: 4D1F5B0E-6E0B-4E6A-9E0B-0C3F4C1D2E5F", "Range: bytes=0-1", "Accept: */*",
                "User-Agent: AppleCoreMedia/1.0.0.22A3354 (iPhone; U; CPU OS 18_0 like Mac OS X; en_us)",
                "Accept-Language: en-US,en;q=0.9", "Accept-Encoding: identity", "Connection: keep-alive",
            ]
        ),
        (
            "Chromium",
            [
                "GET /https/media.example.com/film.mp4 HTTP/1.1", "Host: 127.0.0.1:8090", "Connection: keep-alive",
                "sec-ch-ua-platform: \"Linux\"", "Accept-Encoding: identity;q=1, *;q=0",
                "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) "
                    + "Chrome/140.0.0.0 Safari/537.36",
                "sec-ch-ua: \"Chromium\";v=\"140\", \"Not=A?Brand\";v=\"24\"", "sec-ch-ua-mobile: ?0", "Accept: */*",
                "Sec-Fetch-Site: same-origin", "Sec-Fetch-Mode: no-cors", "Sec-Fetch-Dest: video",
                "Referer: http://127.0.0.1:8090/https/media.example.com/film.mp4", "Accept-Language: en-US,en;q=0.9",
                "Range: bytes=0-",
            ]
        ),
    ]
}

/// Takes bytes without reading them.
private final class Sink: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) { count += unwrapInboundIn(data).readableBytes }
}

private final class OwnParser: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer
    private var parser = RequestParser()
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        parser.append(unwrapInboundIn(data))
        while let head = try? parser.next() { count += head.target.utf8.count + MediaRequest(head).ranges.count }
    }
}

/// Looks up in NIO's heads what ``MediaRequest`` looks up in ours.
private final class DecodedHeads: ChannelInboundHandler {
    typealias InboundIn = HTTPServerRequestPart
    private static let conditions = [
        "if-range", "if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "cache-control", "pragma",
    ]
    private var count = 0

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        guard case .head(let head) = unwrapInboundIn(data) else { return }
        count += head.uri.utf8.count
        for name in Self.conditions where head.headers.contains(name: name) { count += 1 }
        if let value = head.headers.first(name: "range"), let field = RangeField(value) { count += field.specs.count }
    }
}
