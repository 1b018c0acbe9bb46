import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The head of a response in the engine's types, and the declared length of its body.
struct ResponseHead {
    let response: HTTPResponse
    /// Length of the body in bytes, if the head declares it; RFC 9112 §6.3.
    let declaredLength: Int64?

    /// Whether a range request can fetch the rest of the body: it has a strong validator (RFC 9110 §13.1.5).
    var canBeResumed: Bool { Validators(response.headerFields).ifRangeValue != nil }

    /// Codings that URLSession decodes by itself.
    private static let decoded: Set<String> = ["gzip", "x-gzip", "deflate", "br", "zstd"]

    /// Reads the head from the system's response.
    ///
    /// Throws `originMisbehaved` for a response that is not HTTP, for a Content-Length above 2^53, and for media that
    /// the system decodes, because their ranges and lengths count other bytes than those delivered. An error page is
    /// passed on without the fields that decoding made wrong.
    init(_ urlResponse: URLResponse, to request: OriginRequest) throws(RepriseError) {
        guard let urlResponse = urlResponse as? HTTPURLResponse, (200...999).contains(urlResponse.statusCode) else {
            throw Failures.misbehaved(request.url, what: "is not a final HTTP response")
        }
        var fields = try Self.fields(of: urlResponse, from: request.url)
        let status = HTTPResponse.Status(code: urlResponse.statusCode)
        let hasBody = request.method != .head && status.code != 204 && status.code != 304
        let codings = fields[.contentEncoding]?.lowercased().split(separator: ",") ?? []
        if hasBody, codings.contains(where: { Self.decoded.contains($0.trimmingCharacters(in: .whitespaces)) }) {
            guard status.code >= 300 else {
                throw Failures.misbehaved(request.url, what: "has a Content-Encoding although identity was asked for")
            }
            fields[.contentEncoding] = nil
            fields[.contentLength] = nil
        }
        let isCounted = hasBody && fields[.transferEncoding] == nil && fields[.contentEncoding] == nil
        if isCounted, let value = fields[.contentLength] {
            guard let length = contentLength(value) else {
                throw Failures.misbehaved(request.url, what: "has a Content-Length that is not a number up to 2^53")
            }
            declaredLength = length
        } else {
            declaredLength = nil
        }
        response = HTTPResponse(status: status, headerFields: fields)
    }

    /// The response fields; each name has one value, except `Set-Cookie`.
    ///
    /// The system joins repeated fields, so cookies have to be separated again.
    private static func fields(of response: HTTPURLResponse, from url: ResourceURL) throws(RepriseError) -> HTTPFields {
        var fields = HTTPFields()
        for (name, value) in response.allHeaderFields {
            guard let name = (name as? String).flatMap({ HTTPField.Name($0) }), let value = value as? String else {
                throw Failures.misbehaved(url, what: "has a header field whose name is not a token")
            }
            fields[values: name] = name == .setCookie ? Self.cookies(in: value) : [value]
        }
        return fields
    }

    /// Separates `Set-Cookie` values that were joined with commas.
    ///
    /// A comma before a cookie is followed by a name and an equals sign. The comma in a date is not.
    private static func cookies(in value: String) -> [String] {
        var cookies: [String] = []
        for part in value.split(separator: ",", omittingEmptySubsequences: false) {
            let name = part.prefix { $0 != "=" && $0 != ";" }
            let begins = name.endIndex < part.endIndex && part[name.endIndex] == "="
            if begins || cookies.isEmpty {
                cookies.append(String(part))
            } else {
                cookies[cookies.count - 1] += "," + part
            }
        }
        return cookies.map { $0.trimmingCharacters(in: .whitespaces) }
    }
}
