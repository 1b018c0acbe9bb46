public import HTTPTypes
import Primitives
public import Reprise
import RepriseTesting
import TestLimits

/// An origin implemented by a closure; it records its requests.
public final class ScriptedOrigin: Origin {
    /// The closure's answer.
    public struct Answer: Sendable {
        /// The status code.
        public var status: Int
        /// The fields.
        public var fields: HTTPFields
        /// The whole body, as it is declared.
        public var body: [UInt8]
        /// The body breaks off after this many bytes; `nil` if it does not.
        public var breaksAfter: Int?

        /// Creates an answer; without a length, unless `fields` have one.
        public init(_ status: Int, _ fields: HTTPFields = [:], body: [UInt8] = [], breaksAfter: Int? = nil) {
            self.status = status
            self.fields = fields
            self.body = body
            self.breaksAfter = breaksAfter
        }

        /// An honest origin's answer, with media of pattern bytes, to a request with this Range.
        public static func media(_ request: OriginRequest, _ bytes: [UInt8], _ more: HTTPFields = [:]) -> Answer {
            var fields: HTTPFields = [
                .contentType: "video/mp4", .eTag: "\"v1\"", .acceptRanges: "bytes", .contentLength: "\(bytes.count)",
            ]
            for field in more { fields[field.name] = field.value }
            guard let range = request.fields[.range]?.dropFirst("bytes=".count).split(separator: "-"),
                let first = range.first.flatMap({ Int($0) })
            else { return Answer(200, fields, body: bytes) }
            let last = min(range.count > 1 ? Int(range[1]) ?? bytes.count : bytes.count, bytes.count - 1)
            fields[.contentLength] = "\(last - first + 1)"
            fields[.contentRange] = "bytes \(first)-\(last)/\(bytes.count)"
            return Answer(206, fields, body: Array(bytes[first...last]))
        }
    }

    private let answer: @Sendable (OriginRequest, Int) async throws -> Answer
    private let asked = Mutex<[OriginRequest]>([])

    /// `answer` is called with each request and its number, from 1.
    public init(_ answer: @escaping @Sendable (OriginRequest, Int) async throws -> Answer) { self.answer = answer }

    /// The requests so far.
    public var requests: [OriginRequest] { asked.withLock { $0 } }

    /// Runs `body` with a new cache for this origin and takes it down afterwards.
    public func run(
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, _ body: (MediaCache) async throws -> Void
    ) async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        var configuration = MediaCache.Configuration()
        configuration.retry.firstDelay = .zero
        configuration.retry.maximumDelay = .zero
        configure(&configuration)
        let cache = try await MediaCache.open(directory: directory.path, origin: self, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(cache)) } catch { result = .failure(error) }
        await cache.close()
        try result.get()
    }

    /// Answers `request`.
    public func send(_ request: OriginRequest) async throws -> OriginResponse {
        let number = asked.withLock { asked in
            asked.append(request)
            return asked.count
        }
        let answer = try await answer(request, number)
        let head = HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields)
        return OriginResponse(head: head, url: request.url, body: ScriptedBody(answer))
    }

    /// Returns after the `count`th request.
    public func wasAsked(_ count: Int) async {
        await eventually { requests.count >= count }
    }
}

private final class ScriptedBody: OriginBody {
    private struct Piece: ByteChunk {
        let bytes: ArraySlice<UInt8>

        var count: Int { bytes.count }

        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try bytes.withUnsafeBytes(body)
        }
    }

    private let rest: Mutex<ArraySlice<UInt8>>
    private let isBroken: Mutex<Bool>

    init(_ answer: ScriptedOrigin.Answer) {
        rest = Mutex(answer.body.prefix(answer.breaksAfter ?? .max))
        isBroken = Mutex(answer.breaksAfter != nil)
    }

    func next() async throws -> (any ByteChunk)? {
        let piece = rest.withLock { rest in
            let piece = rest.prefix(64 << 10)
            rest = rest.dropFirst(piece.count)
            return piece
        }
        if !piece.isEmpty { return Piece(bytes: piece) }
        guard isBroken.withLock({ $0 }) else { return nil }
        throw RepriseError(.originBodyTruncated, "The connection ended early.")
    }

    func cancel() {
        rest.withLock { $0 = [] }
        isBroken.withLock { $0 = false }
    }
}

/// A one-time event that tasks wait for.
public final class Happening: Sendable {
    private struct State {
        var hasHappened = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// Creates an event that has not happened yet.
    public init() {}

    /// Reports the event.
    public func happen() {
        let waiters = state.withLock { state in
            state.hasHappened = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns once it has happened.
    public func wait() async {
        await withCheckedContinuation { continuation in
            let hasHappened = state.withLock { state in
                if !state.hasHappened { state.waiters.append(continuation) }
                return state.hasHappened
            }
            if hasHappened { continuation.resume() }
        }
    }
}
