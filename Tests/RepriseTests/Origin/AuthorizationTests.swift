import HTTPTypes
import Primitives
import RepriseHTTPClient
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Tokens and signatures that expire, in the middle of plays and downloads.
@Suite(.limit(minutes: 2)) struct AuthorizationTests {
    private static let length: Int64 = 600_000

    /// An origin that takes one token, which a test may change, and counts.
    private final class Gatekeeper: Origin {
        private struct State {
            var token = "1"
            var refused = 0
            var seen: [String] = []
        }
        private let client: NIOOrigin
        private let state = Mutex(State())

        init(_ client: NIOOrigin) { self.client = client }

        func accept(_ token: String) { state.withLock { $0.token = token } }
        var refused: Int { state.withLock { $0.refused } }
        var seen: [String] { state.withLock { $0.seen } }

        func send(_ request: OriginRequest) async throws -> OriginResponse {
            let parts = request.url.target.split(separator: "?")
            let token = request.fields[.authorization] ?? String(parts.dropFirst().joined())
            let isRight = state.withLock { state in
                state.seen.append(token)
                if token != state.token { state.refused += 1 }
                return token == state.token
            }
            var request = request
            request.url = try ResourceURL("http://\(request.url.authority)\(isRight ? parts[0] : "/refused")")
            return try await client.send(request)
        }
    }

    /// Answers from a list, and notes what it was asked.
    private final class Program: Sendable {
        private struct State {
            var answers: [Authorization?]
            var reasons: [AuthorizationRequest.Reason] = []
        }
        private let state: Mutex<State>

        init(_ answers: [Authorization?]) { state = Mutex(State(answers: answers)) }

        var reasons: [AuthorizationRequest.Reason] { state.withLock { $0.reasons } }

        func add(_ answer: Authorization) { state.withLock { $0.answers.append(answer) } }

        func answer(_ request: AuthorizationRequest) -> Authorization? {
            state.withLock { state in
                state.reasons.append(request.reason)
                return state.answers.isEmpty ? nil : state.answers.removeFirst()
            }
        }
    }

    private static func token(_ token: String) -> Authorization { Authorization(fields: [.authorization: token]) }

    private static func run(
        _ program: Program, _ body: (Bench, Gatekeeper, MediaCache) async throws -> Void
    ) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/film", length: length)
            bench.publish("/refused", length: 10) { $0.status = 401 }
            let gatekeeper = Gatekeeper(bench.client)
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            var configuration = MediaCache.Configuration()
            configuration.authorize = { program.answer($0) }
            let cache = try await MediaCache.open(
                directory: directory.path, origin: gatekeeper, configuration: configuration)
            let result: Result<Void, any Error>
            do { result = .success(try await body(bench, gatekeeper, cache)) } catch { result = .failure(error) }
            await cache.close()
            try result.get()
        }
    }

    @Test("a token that expires in the middle of a play is renewed once, and no byte comes twice")
    func renewedInThePlay() async throws {
        let program = Program([Self.token("2")])
        try await Self.run(program) { bench, gatekeeper, cache in
            let film = try cache.resource(for: bench.origin.url("/film"), fields: [.authorization: "1"])
            _ = try await film.read(0..<200_000).collect()
            await cache.becomeIdle()
            gatekeeper.accept("2")
            let bytes = try await film.read().collect()
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(program.reasons == [.refused(status: 401)])
            #expect(gatekeeper.refused == 1)
            #expect(bench.origin.snapshot["/film"].bytesSentMoreThanOnce <= 64 << 10)
        }
    }

    @Test("requests that are refused together ask once")
    func askedOnce() async throws {
        let program = Program([Self.token("2"), Self.token("3")])
        try await Self.run(program) { bench, gatekeeper, cache in
            let film = try cache.resource(for: bench.origin.url("/film"), fields: [.authorization: "1"])
            _ = try await film.read(0..<1000).collect()
            await cache.becomeIdle()
            gatekeeper.accept("2")
            try await withThrowingTaskGroup(of: Void.self) { group in
                for start in stride(from: Int64(100_000), to: 600_000, by: 100_000) {
                    group.addTask { _ = try await film.read(start..<start + 1000).collect() }
                }
                try await group.waitForAll()
            }
            #expect(program.reasons == [.refused(status: 401)])
        }
    }

    @Test("a refusal stands where the program knows nothing better, and nothing loops", arguments: [false, true])
    func refused(hasAnswers: Bool) async throws {
        let program = Program(hasAnswers ? [Self.token("8"), Self.token("9")] : [])
        try await Self.run(program) { bench, gatekeeper, cache in
            let film = try cache.resource(for: bench.origin.url("/film"), fields: [.authorization: "0"])
            let error = await #expect(throws: RepriseError.self) { try await film.read().collect() }
            #expect(error?.code == .originRefused && error?.refusal?.head.status == .unauthorized)
            #expect(program.reasons == [.refused(status: 401)])
            #expect(gatekeeper.seen == (hasAnswers ? ["0", "8"] : ["0"]))
        }
    }

    @Test("a URL with a new signature is the same resource")
    func signedURL() async throws {
        let program = Program([])
        try await Self.run(program) { bench, gatekeeper, cache in
            let film = try cache.resource(for: "\(bench.origin.url("/film"))?1")
            _ = try await film.read(0..<200_000).collect()
            await cache.becomeIdle()
            gatekeeper.accept("2")
            program.add(Authorization(url: try ResourceURL("\(bench.origin.url("/film"))?2")))
            let bytes = try await film.read().collect()
            #expect(bytes == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(try await cache.entries().map(\.key) == [film.key])
            #expect(bench.origin.snapshot["/film"].bytesSentMoreThanOnce <= 64 << 10)
        }
    }

    @Test("a download asks before it begins, after a restart, too, and goes on with what it has")
    func downloads() async throws {
        let program = Program([Self.token("1"), Self.token("2")])
        try await Self.run(program) { bench, gatekeeper, cache in
            bench.origin.hold("/film", at: 200_000)
            let film = try cache.resource(for: bench.origin.url("/film"))
            try await cache.downloads.add(film)
            await eventually { await film.storedProgress().ranges.byteCount >= 200_000 }
            try await cache.downloads.pause(film.key)
            await cache.becomeIdle()
            gatekeeper.accept("2")
            bench.origin.release("/film")
            try await cache.downloads.resume(film.key)
            await eventually { await film.storedProgress().isComplete }
            #expect(program.reasons == [.downloadStarts, .downloadStarts])
            #expect(gatekeeper.refused == 0)
            let ranges = bench.origin.snapshot["/film"].requests.map { $0.requestedRange?.lowerBound ?? 0 }
            #expect(ranges.count == 2 && ranges[1] >= 131_072)
        }
    }

    @Test("an error of the program is the reader's, with its cause")
    func failing() async throws {
        struct NoPassword: Error {}
        try await Bench.run(configure: { $0.authorize = { _ in throw NoPassword() } }) { bench async throws in
            bench.publish("/film", length: 10) { $0.status = 403 }
            let error = await #expect(throws: RepriseError.self) { try await bench.bytes("/film") }
            #expect(error?.code == .originRefused && error?.cause is NoPassword)
        }
    }
}
