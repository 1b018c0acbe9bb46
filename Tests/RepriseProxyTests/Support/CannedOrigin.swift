import HTTPTypes
import Primitives
import Logging
import Reprise
import RepriseProxy
import TestSupport

/// An origin without a socket: answers as a closure says and records its requests.
final class CannedOrigin: Origin {
    /// A status, fields and a body.
    struct Answer: Sendable {
        var status: Int
        var fields: HTTPFields = [:]
        var body = ""
        /// The URL that answers, if it differs from the requested one.
        var finalURL: String?
    }

    private let answer: @Sendable (OriginRequest) -> Answer
    private let log = Mutex<[OriginRequest]>([])

    init(_ answer: @escaping @Sendable (OriginRequest) -> Answer) { self.answer = answer }

    var requests: [OriginRequest] { log.withLock { $0 } }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        log.withLock { $0.append(request) }
        let answer = answer(request)
        return OriginResponse(
            head: HTTPResponse(status: .init(code: answer.status), headerFields: answer.fields),
            url: try answer.finalURL.map { try ResourceURL($0) } ?? request.url, body: Body(Array(answer.body.utf8)))
    }

    private final class Body: OriginBody {
        private let rest: Mutex<[UInt8]?>
        init(_ bytes: [UInt8]) { rest = Mutex(bytes.isEmpty ? nil : bytes) }
        func next() async throws -> (any ByteChunk)? {
            rest.withLock { rest in
                defer { rest = nil }
                return rest
            }
        }
        func cancel() { rest.withLock { $0 = nil } }
    }

    /// Runs `body` with a proxy for this origin that stores nothing.
    func serve(
        configure: (inout ProxyConfiguration) -> Void = { _ in }, _ body: (ProxyServer) async throws -> Void
    ) async throws {
        let cache = MediaCache.withoutStore(origin: self)
        let result: Result<Void, any Error>
        do { result = .success(try await Self.serve(cache, configure: configure, body)) } catch {
            result = .failure(error)
        }
        await cache.close()
        try result.get()
    }

    /// Runs `body` with a proxy for `cache`.
    static func serve(
        _ cache: MediaCache, configure: (inout ProxyConfiguration) -> Void = { _ in },
        _ body: (ProxyServer) async throws -> Void
    ) async throws {
        var configuration = ProxyConfiguration()
        configuration.logger.logLevel = .critical
        configure(&configuration)
        let server = try await ProxyServer.start(cache, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(server)) } catch { result = .failure(error) }
        await server.stop()
        try result.get()
    }
}

extension ProxyServer {
    /// Sends `lines` as a request head followed by `body`; returns everything received until the proxy closes.
    func raw(_ lines: [String], body: String = "") async throws -> String {
        let client = try RawClient(port: port)
        try await client.send(lines.joined(separator: "\r\n") + "\r\n\r\n" + body)
        return String(decoding: try await client.upTo(1 << 20), as: UTF8.self)
    }
}
