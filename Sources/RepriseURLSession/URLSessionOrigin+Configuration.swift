import Reprise

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension URLSessionOrigin {
    /// Timeouts, limits and network policy of a ``URLSessionOrigin``.
    public struct Configuration: Sendable {
        /// Maximum time from a request to its response head, restarted for every redirect; `nil` by default.
        ///
        /// `nil` means 5 minutes, or 30 s if the request validates a stored response. Includes name lookup, connecting
        /// and waiting for a connection. When it is exceeded: `originTimedOut`.
        public var responseTimeout: Duration?
        /// Maximum time without a byte while the consumer waits in `next()`; `nil` by default.
        ///
        /// `nil` means 5 minutes, or 30 s if a range request can fetch the rest of the body. A consumer that does not
        /// pull never times out. When it is exceeded: `originTimedOut`.
        public var idleTimeout: Duration?
        /// Maximum number of redirects that one request follows; 20 by default.
        ///
        /// When it is exceeded, or the redirects form a loop: `originRedirectRefused`.
        public var redirectLimit = 20
        /// Maximum number of connections to one host, for HTTP/1.1; 16 by default.
        ///
        /// Further requests wait in the system. A body that is neither read to its end, canceled nor released keeps its
        /// connection.
        public var maximumConnectionsPerHost = 16
        /// `User-Agent` for requests without one; `nil`, the default, for the system's own.
        public var userAgent: String?

        /// Identifies the app's background session, through which the media of downloads come also while the app is
        /// suspended or not running; `nil`, the default, for no such session.
        ///
        /// Such as `com.example.app.downloads`; the same in each launch, and for one cache only. The system follows
        /// redirects of these transfers by itself and sends all request fields on. A reader that wants a file while it
        /// is transferred gets its bytes without the background session. Has no effect elsewhere than on Apple's
        /// systems.
        ///
        /// Pass the system's events on with ``URLSessionOrigin/handleEvents(ofBackgroundSession:completion:)``.
        public var backgroundIdentifier: String?

        #if canImport(Darwin)
            /// Whether networks that the system considers expensive, such as cellular ones, may be used; true by
            /// default.
            ///
            /// If there is no other network: `networkUnavailable`.
            public var allowsExpensiveNetworkAccess = true
            /// Whether networks may be used for which the user turned on Low Data Mode; true by default.
            ///
            /// If there is no other network: `networkUnavailable`.
            public var allowsConstrainedNetworkAccess = true
        #endif

        /// Changes the session's configuration, an ephemeral one, before it is used; `nil` by default.
        ///
        /// Use it for settings that have no option here: multipath, service type, protocol classes. Cache, cookies,
        /// stored credentials and the options above are set afterwards and take precedence.
        public var adjustSession: (@Sendable (URLSessionConfiguration) -> Void)?

        /// The defaults.
        public init() {}

        /// Seconds without a byte after which the system tries a transfer in the background again by itself: a minute,
        /// as by default, and not less than programs wait.
        ///
        /// After a change of network a connection may be silent for ever. Other requests have timers of the program,
        /// and leave the system a day.
        func longestSilence(of request: OriginRequest) -> TimeInterval {
            let longest = max(
                .seconds(60), responseTimeout ?? .zero, idleTimeout ?? .zero, request.longestSilence ?? .zero)
            return longest / .seconds(1)
        }

        /// The networks that a transfer in the background may use under `policy`.
        func networks(of policy: NetworkPolicy) -> TransferNetworks {
            var networks = TransferNetworks(policy)
            #if canImport(Darwin)
                if !allowsExpensiveNetworkAccess { networks.mayBeExpensive = false }
                if !allowsConstrainedNetworkAccess { networks.mayBeConstrained = false }
            #endif
            return networks
        }
    }
}

extension URLSessionConfiguration {
    /// The limit for the system's own timeouts; ``Transfer`` enforces the ones that matter.
    ///
    /// The system's timer also runs while the body is not being pulled, and does not distinguish heads from bodies.
    static let systemTimeout: TimeInterval = 86_400

    /// The session's configuration: no cache, no cookies, no implicit credentials.
    static func make(_ configuration: URLSessionOrigin.Configuration) -> URLSessionConfiguration {
        let session = URLSessionConfiguration.ephemeral
        configuration.adjustSession?(session)
        session.shareNothing()
        session.timeoutIntervalForRequest = systemTimeout
        session.httpMaximumConnectionsPerHost = configuration.maximumConnectionsPerHost
        #if canImport(Darwin)
            session.allowsExpensiveNetworkAccess = configuration.allowsExpensiveNetworkAccess
            session.allowsConstrainedNetworkAccess = configuration.allowsConstrainedNetworkAccess
        #endif
        return session
    }

    /// Has no cache, no cookies and no implicit credentials.
    func shareNothing() {
        urlCache = nil
        // Without a cache there is nothing to ignore; a policy that ignores one may add `Cache-Control: no-cache`,
        // which makes a content delivery network ask its own origin each time.
        requestCachePolicy = .useProtocolCachePolicy
        httpCookieStorage = nil
        httpCookieAcceptPolicy = .never
        httpShouldSetCookies = false
        urlCredentialStorage = nil
    }
}
