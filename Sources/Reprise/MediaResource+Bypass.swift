import ByteRanges
package import HTTPSemantics
package import HTTPTypes

extension MediaResource {
    /// Sends GET to the origin for a response that is never stored, and returns it as it came.
    ///
    /// `ifRange` makes the range conditional (RFC 9110 §13.1.5). `longestSilence` is how long the origin may be silent,
    /// if that is longer than the client's own limits.
    ///
    /// Throws ``RepriseError`` with an `origin…` code, `notStored` in offline mode, or `CancellationError`.
    package func bypass(
        _ range: RangeSpec? = nil, fields extra: HTTPFields = [:], ifRange: String? = nil,
        longestSilence: Duration? = nil
    ) async throws -> OriginResponse {
        var request = request(extra)
        request.longestSilence = longestSilence
        var (response, _) = try await engine.send(
            request, range: range?.clipped, ifRange: range == nil ? nil : ifRange)
        response.body = CountedBody(response.body, host: request.url.authority, reporter: engine.reporter)
        return response
    }
}

/// A body whose bytes are counted as fetched.
private final class CountedBody: OriginBody {
    private let body: any OriginBody
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
