import HTTPTypes
import NIOCore
import Reprise
import Testing

@testable import RepriseHTTPClient

/// Runs `body` with a client, which is shut down afterwards.
func withClient<R>(
    _ configure: (inout NIOOrigin.Configuration) -> Void = { _ in }, _ body: (NIOOrigin) async throws -> R
) async throws -> R {
    var configuration = NIOOrigin.Configuration()
    // A busy machine keeps a consumer waiting for longer than a player would.
    configuration.parkingTime = .seconds(600)
    configuration.idleConnectionLifetime = .seconds(600)
    configuration.queueTimeout = .seconds(600)
    configure(&configuration)
    let client = NIOOrigin(configuration: configuration)
    do {
        let result = try await body(client)
        await client.shutdown()
        return result
    } catch {
        await client.shutdown()
        throw error
    }
}

extension NIOOrigin {
    func get(_ url: String, _ fields: HTTPFields = [:], method: HTTPRequest.Method = .get) async throws
        -> OriginResponse
    {
        try await send(OriginRequest(url: ResourceURL(url), method: method, fields: fields))
    }
}

extension NIOOrigin.Configuration {
    /// The defaults, with `userAgent`.
    static func named(_ userAgent: String) -> Self {
        var configuration = Self()
        configuration.userAgent = userAgent
        return configuration
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

    /// Number of bytes that the client holds for a consumer that has not taken them.
    var bufferedBytes: Int { (self as? ResponseBody)?.stream.bufferedBytes ?? -1 }
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

/// Collects pieces of a body for a test of the pure parts.
func piece(_ text: String) -> ByteBuffer { ByteBuffer(string: text) }
