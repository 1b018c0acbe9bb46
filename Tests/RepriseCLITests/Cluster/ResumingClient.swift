import RepriseTesting
import TestSupport
import Testing

/// A client that reads a file as players do: where a body ends early, it asks for the rest.
///
/// One task uses it at a time.
final class ResumingClient {
    private let port: Int
    private let target: String
    private var client: RawClient
    private(set) var bytes: [UInt8] = []
    /// The heads of the answers.
    private(set) var heads: [RawClient.Head]
    /// What had come of a file before its place was taken by another one.
    private(set) var discarded: [UInt8] = []
    private var length: Int

    init(port: Int, _ target: String) async throws {
        (self.port, self.target) = (port, target)
        client = try RawClient(port: port)
        try await client.get(target)
        let head = try await client.head()
        try #require(head.status == 200, "\(target)")
        heads = [head]
        length = try #require(head.length)
    }

    /// Reads until `count` bytes have come.
    func read(upTo count: Int) async throws {
        while bytes.count < count {
            bytes += try await client.upTo(count - bytes.count)
            if bytes.count < count { try await askForRest() }
        }
    }

    /// Reads to the end, also of a file that takes the place of the first one.
    func readAll() async throws {
        while bytes.count < length { try await read(upTo: length) }
    }

    /// Whether all bytes are those of the pattern with this seed.
    func has(seed: UInt64) -> Bool { bytes == TestPattern.bytes(in: 0..<Int64(length), seed: seed) }

    private func askForRest() async throws {
        try #require(heads.count < 20, "\(target): \(bytes.count) of \(length)")
        let tag = try #require(heads.last?.fields["etag"])
        client = try RawClient(port: port)
        try await client.get(target, ["Range: bytes=\(bytes.count)-", "If-Range: \(tag)"])
        let head = try await client.head()
        try #require(head.status == 200 || head.status == 206, "\(head.status)")
        heads.append(head)
        guard head.status == 200 else { return }
        (discarded, bytes) = (bytes, [])
        length = try #require(head.length)
    }
}
