import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The head of a response in the engine's types, and how long its body must be.
struct ResponseHead {
    let response: HTTPResponse
    /// Bytes that the body must have, where the head says so; RFC 9112 §6.3.
    let declaredLength: Int64?

    /// Whether a range request can bring the rest of the body: it has a strong validator (RFC 9110 §13.1.5).
    var canBeResumed: Bool { Validators(response.headerFields).ifRangeValue != nil }

    /// Codings that URLSession undoes by itself.
    private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// Reads what the system made of the head.
    ///
    /// Throws `originMisbehaved` for what is no HTTP response, for a Content-Length above 2^53, and for media that the system
    /// decodes: its ranges and lengths count other bytes than those that come. An error page is handed on without the fields that became untrue.
    init(_ urlResponse: URLResponse, to request: OriginRequest) throws(RepriseError) {
        guard let urlResponse = urlResponse as? HTTPURLResponse, (200...999).contains(urlResponse.statusCode) else {
            throw Failures.misbehaved(request.url, "is no final HTTP response")
        }
        var fields = try Self.fields(of: urlResponse, request.url)
        let status = HTTPResponse.Status(code: urlResponse.statusCode)
        let hasBody = request.method != .head && status.code != 204 && status.code != 304
        let codings = fields[.contentEncoding]?.lowercased().split(separator: ",") ?? []
        if hasBody, codings.contains(where: { Self.decoded.contains($0.trimmingCharacters(in: .whitespaces)) }) {
            guard status.code >= 300 else {
                throw Failures.misbehaved(request.url, "has a Content-Encoding although identity was asked for")
            }
            fields[.contentEncoding] = nil
            fields[.contentLength] = nil
        }
        let isCounted = hasBody && fields[.transferEncoding] == nil && fields[.contentEncoding] == nil
        if isCounted, let value = fields[.contentLength] {
            guard let length = contentLength(value) else {
                throw Failures.misbehaved(request.url, "has a Content-Length that is not a number up to 2^53")
            }
            declaredLength = length
        } else {
            declaredLength = nil
        }
        response = HTTPResponse(status: status, headerFields: fields)
    }

    /// The fields, each name once: the system has joined repeated ones.
    private static func fields(of response: HTTPURLResponse, _ url: ResourceURL) throws(RepriseError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                throw Failures.misbehaved(url, "has a header field whose name is not a token")
            }
            fields[name] = value
        }
        return fields
    }
}
