import Primitives
import Reprise

/// A client whose network can be cut: requests fail, and responses under way break off.
final class CuttableOrigin: Origin {
    private final class Line: Sendable {
        private let isCut = Mutex(false)

        func set(isCut value: Bool) { isCut.withLock { $0 = value } }

        func check() throws {
            guard isCut.withLock({ $0 }) else { return }
            throw RepriseError(.networkUnavailable, "There is no network.")
        }
    }

    private final class Body: OriginBody {
        private let body: any OriginBody
        private let line: Line

        init(_ body: any OriginBody, line: Line) { (self.body, self.line) = (body, line) }

        func next() async throws -> (any ByteChunk)? {
            try line.check()
            return try await body.next()
        }

        func cancel() { body.cancel() }
    }

    private let client: any Origin
    private let line = Line()

    init(_ client: any Origin) { self.client = client }

    /// Cuts the network, or restores it.
    func set(isCut: Bool) { line.set(isCut: isCut) }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        try line.check()
        var response = try await client.send(request)
        response.body = Body(response.body, line: line)
        return response
    }
}
