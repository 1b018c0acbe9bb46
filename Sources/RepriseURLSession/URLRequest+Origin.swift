import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Demand {
    /// The priority passed to the system; the default is 0.5.
    var taskPriority: Float {
        switch self {
        case .playing: URLSessionTask.highPriority
        case .seekingAhead: URLSessionTask.defaultPriority
        case .preload: (URLSessionTask.defaultPriority + URLSessionTask.lowPriority) / 2
        case .download: URLSessionTask.lowPriority
        }
    }
}

extension URLRequest {
    /// End-to-end fields that the system writes itself, or that announce a body.
    private static let own: Set<String> = ["host", "content-length", "expect", "http2-settings"]

    /// The request for URLSession, with the URL as spelled.
    ///
    /// Throws `invalidArgument` for CONNECT and TRACE, and `invalidURL` if Foundation would change the URL.
    static func make(_ request: OriginRequest, userAgent: String?) throws(RepriseError) -> URLRequest {
        guard request.method.rawValue != "CONNECT", request.method != .trace else {
            throw RepriseError(.invalidArgument, "The origin cannot be sent \(request.method.rawValue).")
        }
        let text = request.url.description
        // iOS 17 and later encode invalid characters instead of refusing them.
        guard let url = URL(string: text), url.absoluteString == text else {
            throw RepriseError(
                .invalidURL,
                "URLSession cannot ask for \(request.url.redacted) as it is spelled; percent-encode what RFC 3986 does not allow."
            )
        }
        var made = URLRequest(
            url: url, cachePolicy: .useProtocolCachePolicy,
            timeoutInterval: URLSessionConfiguration.systemTimeout)
        made.httpMethod = request.method.rawValue
        if !request.body.isEmpty { made.httpBody = Data(request.body) }
        made.httpShouldHandleCookies = false
        let fields = request.fields.endToEnd
        for field in fields where !own.contains(field.name.canonicalName) {
            // Fields of one name are sent joined, as HTTPTypes joins them: cookies with a semicolon.
            made.setValue(fields[field.name], forHTTPHeaderField: field.name.rawName)
        }
        if let userAgent, fields[.userAgent] == nil { made.setValue(userAgent, forHTTPHeaderField: "User-Agent") }
        if fields[.acceptEncoding] == nil { made.setValue("identity", forHTTPHeaderField: "Accept-Encoding") }
        #if canImport(Darwin)
            if request.networkPolicy != .any { made.allowsExpensiveNetworkAccess = false }
            if request.networkPolicy == .inexpensiveAndUnconstrained { made.allowsConstrainedNetworkAccess = false }
        #endif
        return made
    }
}
