import Reprise

/// The body of a parent's response, which is counted.
final class ParentBody: OriginBody {
    /// What happens to a body.
    enum Event: Sendable {
        case came(bytes: Int)
        /// It broke off, or nothing came for too long.
        case broke
    }

    private let body: any OriginBody
    private let note: @Sendable (Event) -> Void

    init(_ body: any OriginBody, note: @escaping @Sendable (Event) -> Void) { (self.body, self.note) = (body, note) }

    func next() async throws -> (any ByteChunk)? {
        do {
            let piece = try await body.next()
            if let piece { note(.came(bytes: piece.count)) }
            return piece
        } catch {
            // A body whose reader left has not broken.
            if let error = error as? RepriseError, error.code != .closed { note(.broke) }
            throw error
        }
    }

    func cancel() { body.cancel() }
}
