import Logging
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport

/// A proxy in front of a ``Bench``.
struct ProxyBench {
    let bench: Bench
    let server: ProxyServer

    /// Runs `body` with a new proxy, cache and origin.
    static func run(
        sendBufferSize: Int? = nil, client: NIOOrigin = .patient(),
        configureProxy: (inout ProxyConfiguration) -> Void = { _ in },
        configure: (inout MediaCache.Configuration) -> Void = { _ in }, _ body: (ProxyBench) async throws -> Void
    ) async throws {
        try await Bench.run(sendBufferSize: sendBufferSize, client: client, configure: configure) {
            bench async throws in
            try await run(bench, configureProxy, body)
        }
    }

    /// Runs `body` with another proxy in front of the same cache.
    func again(
        _ configureProxy: (inout ProxyConfiguration) -> Void, _ body: (ProxyBench) async throws -> Void
    ) async throws {
        try await Self.run(bench, configureProxy, body)
    }

    private static func run(
        _ bench: Bench, _ configureProxy: (inout ProxyConfiguration) -> Void, _ body: (ProxyBench) async throws -> Void
    ) async throws {
        var configuration = ProxyConfiguration()
        configuration.logger.logLevel = .critical
        configureProxy(&configuration)
        let server = try await ProxyServer.start(bench.cache, configuration: configuration)
        let result: Result<Void, any Error>
        do { result = .success(try await body(ProxyBench(bench: bench, server: server))) } catch {
            result = .failure(error)
        }
        await server.stop()
        try result.get()
    }

    /// Returns when no client is being answered, and the cache does nothing for a client that has left.
    func becomeIdle() async {
        await eventually { server.answersUnderWay == 0 }
        await bench.cache.becomeIdle()
    }

    /// The request target at the proxy for `path` of the origin.
    func target(_ path: String) -> String { "/http/127.0.0.1:\(bench.origin.port)\(path)" }

    func get(_ path: String, _ fields: [String] = [], method: String = "GET") async throws -> (
        head: RawClient.Head, body: [UInt8]
    ) {
        try await RawClient.exchange(port: server.port, target(path), fields, method: method)
    }
}
