import ByteRanges
import HTTPSemantics
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Origins and clients with numbers near 2^31, 2^53 and 2^63; each may affect its own request only.
///
/// A trap ends the process and with it every test of the target.
@Suite(.limit(minutes: 10)) struct HostileOriginTests {
    /// The caches that treat a response differently.
    enum Kind: CaseIterable { case plain, encrypted, shared }

    private static let requests: [(method: String, range: String?)] = [
        ("GET", nil), ("GET", "bytes=0-"), ("GET", "bytes=100-199"), ("GET", "bytes=-10"),
        ("GET", "bytes=0-1,3-9223372036854775806"), ("HEAD", nil),
    ]

    private static func run(
        _ kind: Kind, _ answer: @escaping HostileOrigin.Answer,
        _ body: (ProxyBench, HostileOrigin) async throws -> Void
    ) async throws {
        let key = try #require(KeyFile.key(hexadecimal: String(repeating: "0b", count: 32)))
        try await HostileOrigin.run(answer) { origin in
            try await ProxyBench.run(configure: {
                $0.retry.attempts = 1
                $0.encryption = kind == .encrypted ? CacheEncryption(key: key) : nil
                $0.reuse.isShared = kind == .shared
            }) { proxy async throws in
                proxy.bench.publish("/good.mp4", length: 50_000)
                try await body(proxy, origin)
            }
        }
    }

    /// Sends a request and reads its answer, 64 KiB at most.
    private static func ask(
        _ proxy: ProxyBench, _ target: String, _ method: String = "GET", range: String?
    ) async throws -> (head: RawClient.Head, body: [UInt8]) {
        let client = try RawClient(port: proxy.server.port)
        try await client.get(target, (range.map { ["Range: \($0)"] } ?? []) + ["Connection: close"], method: method)
        let head = try await client.head()
        guard method != "HEAD" else { return (head, []) }
        return (head, try await client.upTo(min(head.length ?? 65_536, 65_536)))
    }

    private static func contains(_ bytes: [UInt8], _ part: [UInt8]) -> Bool {
        var run = 0
        for byte in bytes {
            run = byte == part[0] ? run + 1 : 0
            if run == part.count { return true }
        }
        return false
    }

    /// Checks the head and bytes that a client received.
    private static func check(_ answer: (head: RawClient.Head, body: [UInt8]), _ comment: String) {
        let known: Set<Int> = [200, 206, 304, 416, 502, 503, 504]
        #expect(known.contains(answer.head.status), "\(comment): \(answer.head.status)")
        if let age = answer.head.fields["age"], answer.head.status < 300 {
            #expect(Int64(age).map { (0...CacheControl.longestTime).contains($0) } == true, "\(comment): Age \(age)")
        }
        // A response that contradicts itself is passed on as it came, up to the length that it declares.
        let isPassedOn = answer.head.fields["cache-status"]?.contains("fwd=bypass") == true
        if isPassedOn, answer.head.fields["content-length"] == nil { return }
        #expect(!contains(answer.body, HostileResponse.poison), "\(comment): surplus reached the client")
        guard answer.head.fields["transfer-encoding"] == nil, answer.head.status < 300, !isPassedOn else { return }
        var start: Int64 = 0
        if answer.head.status == 206 {
            guard let field = answer.head.fields["content-range"] else {
                let type = answer.head.fields["content-type"] ?? ""
                #expect(type.hasPrefix("multipart/byteranges"), "\(comment): 206 without Content-Range")
                return
            }
            guard case .satisfied(let range, _)? = ContentRange(field) else {
                Issue.record("\(comment): Content-Range \(field)")
                return
            }
            start = range.lowerBound
        }
        let right = TestPattern.bytes(in: start..<start + Int64(answer.body.count), seed: 1)
        #expect(answer.body == right, "\(comment): wrong bytes")
    }

    /// Checks that all stored bytes are where they belong.
    private static func checkStored(_ proxy: ProxyBench) async throws {
        await proxy.becomeIdle()
        var offline = CacheControl()
        offline.onlyIfCached = true
        offline.maxStale = .any
        for entry in try await proxy.bench.cache.entries() {
            let resource = try proxy.bench.cache.resource(for: entry.url, key: entry.key)
            let progress = await resource.storedProgress()
            #expect(progress.completeLength ?? 0 <= 1 << 53, "\(entry.key)")
            for span in progress.ranges {
                #expect(span.lowerBound >= 0 && span.upperBound <= 1 << 53, "\(entry.key): \(span)")
                // Bytes that must not be used without asking the origin are not checked, because no other reader gets
                // them either.
                guard let read = try? await resource.read(.bounded(span), directives: offline) else { continue }
                #expect(try await read.collect() == TestPattern.bytes(in: span, seed: 1), "\(entry.key): \(span)")
            }
        }
    }

    /// Checks that other clients are still served.
    private static func checkService(_ proxy: ProxyBench, _ comment: String) async throws {
        let answer = try await ask(proxy, proxy.target("/good.mp4"), range: "bytes=1000-1999")
        #expect(answer.head.status == 206, "\(comment)")
        #expect(answer.body == TestPattern.bytes(in: 1000..<2000, seed: 1), "\(comment)")
    }

    @Test("No number in a response harms anything but its own request", arguments: Kind.allCases)
    func numbersOfOrigins(kind: Kind) async throws {
        let responses = HostileResponse.Field.allCases.flatMap { field in
            HostileResponse.numbers.map { HostileResponse(field: field, number: $0) }
        }
        let answer: HostileOrigin.Answer = { request in
            let index = Int(request.path.dropFirst().prefix { $0 != "." })
            guard let index, responses.indices.contains(index) else { return [] }
            return responses[index].bytes(for: request)
        }
        try await Self.run(kind, answer) { proxy, origin in
            for start in stride(from: 0, to: responses.count, by: HostileResponse.numbers.count) {
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for lane in 0..<4 {
                        group.addTask {
                            let end = start + HostileResponse.numbers.count
                            for index in stride(from: start + lane, to: end, by: 4) {
                                try await Self.ask(proxy, origin.target("/\(index).mp4"), responses[index], kind, index)
                            }
                        }
                    }
                    try await group.waitForAll()
                }
                try await Self.checkService(proxy, "after \(responses[start].field)")
            }
            try await Self.checkStored(proxy)
        }
    }

    /// All requests in a plain cache; in the others one of them in turn.
    private static func ask(
        _ proxy: ProxyBench, _ target: String, _ response: HostileResponse, _ kind: Kind, _ index: Int
    ) async throws {
        let count = kind == .plain ? requests.count : 1
        for number in 0..<count {
            let request = requests[(index + number) % requests.count]
            let comment = "\(response.field) \(response.number), \(request.method) \(request.range ?? "-"), \(kind)"
            let answer = try await ask(proxy, target, request.method, range: request.range)
            // The answer to HEAD is the origin's own head, passed on.
            if request.method == "GET" { check(answer, comment) }
        }
    }

    @Test("No number in a Range field harms anything", arguments: Kind.allCases)
    func numbersOfClients(kind: Kind) async throws {
        try await Self.run(kind, { _ in [] }) { proxy, _ in
            for state in ["unknown", "stored"] {
                for number in HostileResponse.numbers {
                    for range in [
                        "bytes=\(number)-", "bytes=0-\(number)", "bytes=-\(number)", "bytes=\(number)-\(number)",
                        "bytes=0-1,\(number)-\(number)", "bytes=0-1,5-\(number)",
                    ] {
                        let path = state == "stored" ? "/good.mp4" : "/\(number.count)\(number.suffix(3)).mp4"
                        if state == "unknown" { proxy.bench.publish(path, length: 5000) }
                        let answer = try await Self.ask(proxy, proxy.target(path), range: range)
                        #expect([200, 206, 416].contains(answer.head.status), "\(range): \(answer.head.status)")
                        Self.check(answer, "\(range), \(state), \(kind)")
                    }
                }
                try await Self.checkService(proxy, "after ranges, \(state)")
            }
            try await Self.checkStored(proxy)
        }
    }

    // MARK: - Inputs that once ended the process

    /// Answers every request with this 206 and this many chunks of this size.
    private static func part(_ contentRange: String, chunks: Int, of size: Int) -> HostileOrigin.Answer {
        { _ in
            let head =
                "HTTP/1.1 206 Partial Content\r\nContent-Range: \(contentRange)\r\nTransfer-Encoding: chunked\r\n\r\n"
            let chunk = Array("\(String(size, radix: 16))\r\n".utf8) + [UInt8](repeating: 0xEE, count: size) + [13, 10]
            return Array(head.utf8) + (0..<chunks).flatMap { _ in chunk } + Array("0\r\n\r\n".utf8)
        }
    }

    @Test("Several ranges of a file of 2^63 - 1 bytes", arguments: Kind.allCases)
    func severalRangesOfAnEndlessFile(kind: Kind) async throws {
        let answer = Self.part("bytes 0-1/9223372036854775807", chunks: 1, of: 2)
        try await Self.run(kind, answer) { proxy, origin in
            let range = "bytes=0-1,3-9223372036854775806"
            for _ in 0..<2 {
                #expect(try await Self.ask(proxy, origin.target("/a.mp4"), range: range).head.status == 502)
            }
            try await Self.checkService(proxy, "after several ranges")
        }
    }

    @Test(
        "A part just below 2^63, or 2^53, whose body continues",
        arguments: Kind.allCases,
        [
            ("9223372036854775000", "9223372036854775805", "9223372036854775807"),
            ("9223372036854710272", "9223372036854775806", "9223372036854775807"),
            ("9007199254740000", "9007199254740991", "9007199254740992"),
        ])
    func surplusAtTheEnd(kind: Kind, part: (first: String, last: String, length: String)) async throws {
        let answer = Self.part("bytes \(part.first)-\(part.last)/\(part.length)", chunks: 4, of: 65_536)
        try await Self.run(kind, answer) { proxy, origin in
            for range in ["bytes=\(part.first)-", "bytes=0-", "bytes=-5"] {
                _ = try await Self.ask(proxy, origin.target("/a.mp4"), range: range)
            }
            try await Self.checkService(proxy, "after surplus")
            await proxy.becomeIdle()
            for entry in try await proxy.bench.cache.entries() where entry.key.text.hasSuffix("/a.mp4") {
                let resource = try proxy.bench.cache.resource(for: entry.url, key: entry.key)
                #expect(await resource.storedProgress().ranges.bounds?.upperBound ?? 0 <= 1 << 53)
            }
        }
    }
}
