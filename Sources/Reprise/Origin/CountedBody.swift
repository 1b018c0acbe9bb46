/// A body whose bytes are counted as fetched.
final class CountedBody: OriginBody {
    private let body: any OriginBody
    /// The origin to which they are counted.
    private let host: String
    private let reporter: Reporter

    init(_ body: any OriginBody, host: String, reporter: Reporter) {
        (self.body, self.host, self.reporter) = (body, host, reporter)
    }

    func next() async throws -> (any ByteChunk)? {
        let piece = try await body.next()
        if let piece { reporter.countFetched(piece.count, from: host) }
        return piece
    }

    func cancel() { body.cancel() }
}
