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
        var response = try await engine.origin.send(
            request.asking(for: range?.clipped, ifRange: range == nil ? nil : ifRange))
        response.body = CountedBody(response.body, host: request.url.authority, reporter: engine.reporter)
        return response
    }
}
