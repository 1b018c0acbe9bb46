#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionOrigin {
    /// How a ``URLSessionOrigin`` waits, and which networks it uses.
    public struct Configuration: Sendable {
        /// Time from a request to the head of its response, for every redirect anew; 30 s by default.
        ///
        /// Name lookup, connecting and waiting for a connection count. Beyond it: `originTimedOut`.
        public var responseTimeout: Duration = .seconds(30)
        /// Time in which some bytes must come while the consumer waits in `next()`; 30 s by default.
        ///
        /// A consumer that does not pull never times out. Beyond it: `originTimedOut`.
        public var idleTimeout: Duration = .seconds(30)
        /// Most redirects that one request follows; 10 by default.
        ///
        /// Beyond it: `originRedirectRefused`.
        public var redirectLimit = 10
        /// Most connections to one host, for HTTP/1.1; 16 by default.
        ///
        /// Further requests wait in the system. A body that is not read to its end, nor cancelled, nor released keeps its
        /// connection.
        public var maximumConnectionsPerHost = 16
        /// `User-Agent` of requests that bring none; `nil`, the default, for the system's own.
        public var userAgent: String?

        #if canImport(Darwin)
            /// Whether networks that the system calls expensive, such as cellular ones, may be used; true by default.
            ///
            /// Where no other network is there: `networkUnavailable`.
            public var allowsExpensiveNetworkAccess = true
            /// Whether networks may be used for which the user chose Low Data Mode; true by default.
            ///
            /// Where no other network is there: `networkUnavailable`.
            public var allowsConstrainedNetworkAccess = true
        #endif

        /// Changes the session's configuration, an ephemeral one, before it is used; `nil` by default.
        ///
        /// For what has no option here: multipath, service type, protocol classes. Cache, cookies, stored credentials and
        /// the options above are set afterwards and win.
        public var adjustSession: (@Sendable (URLSessionConfiguration) -> Void)?

        /// The defaults.
        public init() {}
    }
}

extension URLSessionConfiguration {
    /// What the system's own clock allows; ``Transfer`` keeps the times that matter.
    ///
    /// The system counts while nobody pulls, too, and knows one time for heads and bodies.
    static let systemTimeout: TimeInterval = 86_400

    /// The session's configuration: no cache, no cookies, no credentials that nobody gave.
    static func make(_ configuration: URLSessionOrigin.Configuration) -> URLSessionConfiguration {
        let session = URLSessionConfiguration.ephemeral
        configuration.adjustSession?(session)
        session.urlCache = nil
        // Without a cache there is nothing to ignore; a policy that ignores one may add `Cache-Control: no-cache`, with
        // which a content delivery network asks its own origin each time.
        session.requestCachePolicy = .useProtocolCachePolicy
        session.httpCookieStorage = nil
        session.httpCookieAcceptPolicy = .never
        session.httpShouldSetCookies = false
        session.urlCredentialStorage = nil
        session.timeoutIntervalForRequest = systemTimeout
        session.httpMaximumConnectionsPerHost = configuration.maximumConnectionsPerHost
        #if canImport(Darwin)
            session.allowsExpensiveNetworkAccess = configuration.allowsExpensiveNetworkAccess
            session.allowsConstrainedNetworkAccess = configuration.allowsConstrainedNetworkAccess
        #endif
        return session
    }
}
