import RepriseTesting
import Testing

/// The pattern most tests serve.
let seed: UInt64 = 7
let length: Int64 = 1000

func expected(_ range: Range<Int64>) -> [UInt8] {
    TestPattern.bytes(in: range, seed: seed)
}

/// Runs `body` with an origin that has 1,000 bytes of pattern at `/a`, and stops the origin afterwards.
func withOrigin(
    _ personality: TestOrigin.Personality = .init(), length: Int64 = length, sendBufferSize: Int? = nil,
    _ body: (TestOrigin) async throws -> Void
) async throws {
    let origin = try await TestOrigin.start(sendBufferSize: sendBufferSize)
    origin.set(.init(.pattern(seed: seed, length: length), personality: personality), at: "/a")
    do {
        try await body(origin)
    } catch {
        await origin.stop()
        throw error
    }
    await origin.stop()
}

/// The same with one connection of a client.
func withClient(
    _ personality: TestOrigin.Personality = .init(), length: Int64 = length,
    _ body: (TestOrigin, TestClient) async throws -> Void
) async throws {
    try await withOrigin(personality, length: length) { origin in
        let client = try await TestClient.connect(to: origin)
        try await body(origin, client)
        await client.close()
    }
}
