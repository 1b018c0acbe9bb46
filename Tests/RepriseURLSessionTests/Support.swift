import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

/// Runs `body` with a loopback origin and a client, which are shut down afterwards.
func withOrigin<R>(
    _ configure: (inout URLSessionOrigin.Configuration) -> Void = { _ in },
    _ body: (TestOrigin, URLSessionOrigin) async throws -> R
) async throws -> R {
    var configuration = URLSessionOrigin.Configuration()
    configure(&configuration)
    let origin = try await TestOrigin.start()
    let client = URLSessionOrigin(configuration: configuration)
    let result: Result<R, any Error>
    do { result = .success(try await body(origin, client)) } catch { result = .failure(error) }
    await client.shutdown()
    await origin.stop()
    return try result.get()
}

func resource(
    _ length: Int64, _ configure: (inout TestOrigin.Personality) -> Void = { _ in }
) -> TestOrigin.Resource {
    .init(.pattern(seed: 1, length: length), personality: .init(configure))
}

func pattern(_ range: Range<Int64>) -> [UInt8] { TestPattern.bytes(in: range, seed: 1) }

extension URLSessionOrigin {
    func get(_ url: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get) async throws
        -> OriginResponse
    {
        try await send(OriginRequest(url: ResourceURL(url), method: method, fields: fields))
    }
}

extension OriginBody {
    /// All bytes up to the clean end.
    func bytes() async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let chunk = try await next() { chunk.withUnsafeBytes { bytes.append(contentsOf: $0) } }
        return bytes
    }

    func text() async throws -> String { String(decoding: try await bytes(), as: UTF8.self) }

    /// Waits until the client holds `count` bytes that were not taken.
    func waitUntilBuffered(_ count: Int) async throws {
        let body = try #require(self as? TransferBody)
        await eventually { body.bufferedBytes >= count }
        try Task.checkCancellation()
    }
}

/// The code of the ``RepriseError`` that `body` throws.
func failureCode<R>(_ body: () async throws -> R) async -> RepriseError.Code? {
    do {
        _ = try await body()
        return nil
    } catch {
        return (error as? RepriseError)?.code
    }
}
