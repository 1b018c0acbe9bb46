import HTTPSemantics
import HTTPTypes

/// The stored representation in most tests: 1,000 bytes of video under a strong tag.
let storedVideo = GenerationIdentity(
    validators: Validators(etag: tag("a")), completeLength: 1000, mediaType: "video/mp4", finalHost: "cdn.example")

/// The same without any validator.
let storedUnvalidated = GenerationIdentity(completeLength: 1000, mediaType: "video/mp4", finalHost: "cdn.example")

/// A response of the origin with the fields that matter to a test.
func response(_ status: Int, _ fields: HTTPFields = [:]) -> HTTPResponse {
    HTTPResponse(status: .init(code: status), headerFields: fields)
}

/// A 206 with a Content-Range, the tag `"a"` unless told otherwise, and further fields.
func partial(_ contentRange: String, etag: String? = "\"a\"", _ fields: HTTPFields = [:]) -> HTTPResponse {
    var fields = fields
    fields[.contentRange] = contentRange
    fields[.eTag] = etag
    return response(206, fields)
}

/// The decision under test; a range request for bytes 100 to 199 of ``storedVideo`` unless told otherwise.
func action(
    for response: HTTPResponse, to request: FetchRequest = FetchRequest(range: .bounded(100..<200)),
    stored: GenerationIdentity? = storedVideo, policy: GenerationPolicy = .strict, host: String? = nil,
    storage: StoragePolicy = StoragePolicy()
) -> ResponseAction {
    validate(request, against: stored, policy: policy, response: response, finalHost: host, storage: storage)
}

/// The placement of a 206.
func part(_ range: Range<Int64>, of completeLength: Int64? = 1000) -> BodyPlacement {
    BodyPlacement(start: range.lowerBound, end: range.upperBound, completeLength: completeLength, rangesSupported: true)
}

/// The placement of a 200.
func whole(_ length: Int64?, of completeLength: Int64? = nil, ranges: Bool? = nil) -> BodyPlacement {
    BodyPlacement(start: 0, end: length, completeLength: completeLength ?? length, rangesSupported: ranges)
}
