package import HTTPTypes
package import Reprise

extension NIOOrigin {
    /// Timeouts, limits and permitted hosts of a ``NIOOrigin``.
    public struct Configuration: Sendable {
        /// Time for name lookup, TCP and TLS together; 10 s by default.
        ///
        /// When it is exceeded: `originTimedOut`.
        public var connectTimeout: Duration = .seconds(10)
        /// Maximum time from a request to its response head; `nil` by default.
        ///
        /// `nil` means 5 minutes, or 30 s if the request validates a stored response. When it is exceeded:
        /// `originTimedOut`.
        public var responseTimeout: Duration?
        /// Maximum time without a byte while the consumer waits in `next()`; `nil` by default.
        ///
        /// `nil` means 5 minutes, or 30 s if a range request can fetch the rest of the body. A consumer that does not
        /// pull never times out. When it is exceeded: `originTimedOut`.
        public var idleTimeout: Duration?
        /// Returns timeouts for a host that override ``responseTimeout`` and ``idleTimeout``; `nil` keeps the defaults.
        ///
        /// Called with names as ``allowsHost`` is.
        package var timeoutsOfHost: (@Sendable (String) -> (response: Duration?, idle: Duration?))?
        /// Time added to the default timeouts, for origins that are servers waiting for another origin.
        package var timeoutMargin = Duration.zero
        /// How long a connection without a request is kept open; 15 s by default.
        public var idleConnectionLifetime: Duration = .seconds(15)
        /// Maximum number of connections to one scheme, host and port, idle ones included; 16 by default, at least 1.
        ///
        /// Further requests queue: the highest class first (``OriginRequest/demand``), and the newest within a class. A
        /// body whose consumer pulls more slowly than the origin sends, such as a film being watched, keeps its
        /// connection, but does not count after ``parkingTime``.
        public var maximumConnectionsPerHost = 16
        /// How long a request queues for a connection; 30 s by default.
        ///
        /// When it is exceeded: `originTimedOut`, and the request is not sent.
        public var queueTimeout: Duration = .seconds(30)
        /// The time over which the pace of a body's consumer is judged; 5 s by default.
        ///
        /// A body that is not pulled at all for this long is parked.
        public var parkingTime: Duration = .seconds(5)
        /// Maximum number of bodies of one scheme, host and port that do not count because their consumers are slow;
        /// 240 by default.
        ///
        /// Beyond it, the body that was parked first is given up: after the bytes that have arrived it ends with
        /// `originBodyTruncated`. Bodies that are being pulled, however slowly, are not given up; beyond this number
        /// they count.
        public var maximumThrottledPerHost = 240
        /// Maximum number of idle connections to one scheme, host and port; 4 by default.
        public var maximumIdlePerHost = 4
        /// How many connections there may be to all hosts, a budget that several clients can share; if it is `nil`, as
        /// by default, half of the descriptors that the process may have, of which a fifth for idle connections.
        ///
        /// Further requests wait for ``queueTimeout``, and idle connections are closed for them, those that were used
        /// longest ago first.
        package var connections: ConnectionBudget?
        /// Descriptors of a process whose system does not say how many it may have.
        static let usualDescriptors = 256
        /// Maximum number of redirects that one request follows; 20 by default.
        ///
        /// When it is exceeded, or the redirects form a loop: `originRedirectRefused`.
        public var redirectLimit = 20
        /// Whether requests to a host may be redirected from https to http; `nil`, the default, allows no host.
        ///
        /// A redirected request carries no credentials. Called with the host of the original request, formatted as for
        /// ``allowsHost``.
        package var mayLeaveTLS: (@Sendable (String) -> Bool)?
        /// Maximum number of bytes of one body that are read ahead of the consumer; 256 KiB by default, 16 to 512 KiB.
        ///
        /// A body starts without read-ahead and earns 1/128 of the bytes that have arrived. Reading continues while
        /// fewer bytes are buffered; with the last read, at most 1 MiB is buffered.
        public var readAhead = 262_144
        /// Trusted certificates besides the system's roots, each a text in PEM form; none by default.
        ///
        /// Verification itself cannot be switched off. A text without a certificate makes every https request fail with
        /// `originNotTrusted`.
        public var additionalTrustRoots: [String] = []
        /// Files with additional trusted certificates; none by default.
        package var trustedFiles: [TrustedFile] = []
        /// Returns files with certificates that are trusted for one host only; `nil` if there are none.
        ///
        /// Called with names as ``allowsHost`` is.
        package var trustedFilesOfHost: (@Sendable (String) -> [TrustedFile]?)?
        /// Whether hosts outside the public internet are refused with `originForbidden`; false by default.
        ///
        /// Decided by the addresses of a name before any connection is attempted, and again for every redirect; if a
        /// name has several addresses, only public ones are used. Loopback, link-local, private (RFC 1918),
        /// unique-local, carrier-grade NAT, unspecified, multicast and reserved addresses are refused, also when
        /// embedded in an IPv6 address.
        public var forbidsPrivateAddresses = false
        /// Decides whether a host may be asked, again for every redirect; `nil`, the default, allows all.
        ///
        /// Called with the name in lower case, an IPv6 literal without brackets. For a host that it refuses:
        /// `originForbidden`.
        public var allowsHost: (@Sendable (String) -> Bool)?
        /// Decides whether a host may be at a private address though ``forbidsPrivateAddresses`` is set; where it is
        /// `nil` or returns `nil`, ``privateAddresses`` decides.
        ///
        /// Called with names as ``allowsHost`` is. A host that is allowed by its name may still not be at the address
        /// of a service that gives out credentials, such as 169.254.169.254.
        package var allowsPrivateAddresses: (@Sendable (String) -> Bool?)?
        /// Private addresses that may be connected to though ``forbidsPrivateAddresses`` is set, whatever host has
        /// them; none by default.
        package var privateAddresses: [AddressRange] = []
        /// The maximum number of connections to a host in place of ``maximumConnectionsPerHost``, at least 1; `nil`
        /// from it for no other number.
        ///
        /// This limit is strict, unlike ``maximumConnectionsPerHost``. For a queued request, the connection of another
        /// body is closed if a range request can fetch the rest of that body, and it is slow or of a lower class.
        ///
        /// Called with names as ``allowsHost`` is, while a lock is held.
        package var connectionsToHost: (@Sendable (String) -> Int?)?
        /// Most bytes per second of all bodies from a host together; `nil` from it for as fast as they come.
        ///
        /// Called with names as ``allowsHost`` is. Each body's first piece comes at once where nothing is owed.
        package var rateOfHost: (@Sendable (String) -> Int64?)?
        /// The clock of ``rateOfHost``; the system's by default.
        package var clock = CacheClock.system
        /// Request fields that log in at the host of a URL, in place of fields of the same name; none by default.
        ///
        /// Only GET and HEAD get them: who may read need not be allowed to change anything. Each redirect is asked
        /// about again, so that no other host gets them.
        package var credentials: (@Sendable (ResourceURL) -> HTTPFields)?
        /// Whether the log-in in a redirect's target is also used after a 401 from the same server; true by default.
        ///
        /// Must be false for a cache with several users.
        package var remembersLogins = true
        /// Through which proxies origins are asked; directly by default.
        ///
        /// A proxy may be at any address; ``forbidsPrivateAddresses`` judges the origin behind it. The proxy resolves
        /// its name, except with `socks5://`; such a name is not judged, only an address in its place.
        public var proxies = OutgoingProxies()
        /// The proxies of a host in place of ``proxies``; `nil` from it for those.
        ///
        /// Called with names as ``allowsHost`` is.
        package var proxiesOfHost: (@Sendable (String) -> OutgoingProxies?)?
        /// `User-Agent` for requests without one; `reprise/` and the version by default.
        public var userAgent = "reprise/\(Build.version)"

        /// The defaults.
        public init() {}
    }
}

extension NIOOrigin.Configuration {
    /// The timeouts for `host`.
    func patience(with host: String) -> OriginPatience {
        let own = timeoutsOfHost?(host)
        return OriginPatience(
            response: own?.response ?? responseTimeout, idle: own?.idle ?? idleTimeout, margin: timeoutMargin)
    }

    /// The proxy through which `endpoint` is reached; `nil` if it is connected to directly.
    func proxy(for endpoint: Endpoint) -> OutgoingProxy? {
        (proxiesOfHost?(endpoint.host) ?? proxies).proxy(for: endpoint)
    }

    /// The HTTP proxy that gets a request for `url` as its own, without a tunnel; `nil` if none does.
    func forwardingProxy(for url: ResourceURL) -> OutgoingProxy? {
        guard url.scheme == .http, let proxy = proxy(for: Endpoint(url)), proxy.speaksHTTP else { return nil }
        return proxy
    }

    /// Throws ``RepriseError`` with code `originForbidden` if ``allowsHost`` refuses `host`.
    func checkName(of host: String) throws(RepriseError) {
        guard let allowsHost, !allowsHost(host) else { return }
        throw RepriseError(.originForbidden, "The host \(host) is not among those that may be fetched from.")
    }

    /// The policy for each host, in lower case; `nil` for one that may be at any address.
    var addressPolicy: @Sendable (String) -> AddressPolicy? {
        guard forbidsPrivateAddresses else { return { _ in nil } }
        return { [allowsPrivateAddresses, privateAddresses] host in
            let rule: AddressPolicy.HostRule =
                allowsPrivateAddresses?(host).map { $0 ? .named : .refused } ?? .none
            return AddressPolicy(for: host, rule: rule, ranges: privateAddresses)
        }
    }
}
