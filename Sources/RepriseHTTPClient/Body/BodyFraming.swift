import HTTPSemantics
import HTTPTypes
import NIOHTTP1
import Reprise

/// How the end of a body is marked on the wire; RFC 9112 §6.3.
enum BodyFraming: Equatable {
    /// There is no body: HEAD, 204, 304.
    case none
    /// `Content-Length` bytes.
    case length(Int64)
    /// Chunked transfer coding.
    case chunked
    /// The body ends with the connection.
    case untilClose

    /// Reads the framing from a head that the parser has accepted.
    ///
    /// Throws `originMisbehaved` for unrequested transfer codings, because their bytes are not the media's, and for a
    /// Content-Length above 2^53.
    init(method: HTTPMethod, status: Int, headers: HTTPHeaders) throws(RepriseError) {
        let codings = headers[canonicalForm: "transfer-encoding"].map { $0.lowercased() }.filter { $0 != "identity" }
        if method == .HEAD || status == 204 || status == 304 {
            self = .none
        } else if codings == ["chunked"] {
            self = .chunked
        } else if !codings.isEmpty {
            throw RepriseError(
                .originMisbehaved,
                "The origin used a transfer coding that was not asked for; only chunked is understood.")
        } else if let text = headers.first(name: "content-length") {
            guard let length = contentLength(text) else {
                throw RepriseError(
                    .originMisbehaved, "The origin sent a Content-Length that is not a number up to 2^53.")
            }
            self = .length(length)
        } else {
            self = .untilClose
        }
    }

    func isWorthDiscarding(limit: Int) -> Bool {
        switch self {
        case .none, .chunked: true
        case .length(let length): length <= limit
        case .untilClose: false
        }
    }
}

extension HTTPResponseHead {
    /// Whether the origin keeps the connection open after this response; RFC 9112 §9.3.
    var keepsConnection: Bool {
        let options = headers[canonicalForm: "connection"].map { $0.lowercased() }
        if options.contains("close") { return false }
        return version.minor >= 1 || options.contains("keep-alive")
    }

    /// The same head in the engine's types.
    func httpResponse() throws(RepriseError) -> HTTPResponse {
        guard (200...999).contains(status.code) else {
            throw RepriseError(
                .originMisbehaved, "The origin answered with status \(status.code), which was not requested.")
        }
        return HTTPResponse(
            status: .init(code: Int(status.code), reasonPhrase: status.reasonPhrase), headerFields: try httpFields())
    }

    func httpFields() throws(RepriseError) -> HTTPFields {
        var fields = HTTPFields()
        fields.reserveCapacity(headers.count)
        for (name, value) in headers {
            guard let fieldName = HTTPField.Name(name) else {
                throw RepriseError(.originMisbehaved, "The origin sent a header field whose name is not a token.")
            }
            fields.append(HTTPField(name: fieldName, value: value))
        }
        return fields
    }
}
