extension NIOOrigin {
    /// How a ``NIOOrigin`` connects, how long it waits and whom it talks to.
    public struct Configuration: Sendable {
        /// Time for name lookup, TCP and TLS together; 10 s by default.
        ///
        /// Beyond it: `originTimedOut`.
        public var connectTimeout: Duration = .seconds(10)
        /// Time from the request to the head of its response; 30 s by default.
        ///
        /// Beyond it: `originTimedOut`.
        public var responseTimeout: Duration = .seconds(30)
        /// Time in which some bytes must come while the consumer waits in `next()`; 30 s by default.
        ///
        /// A consumer that does not pull never times out. Beyond it: `originTimedOut`.
        public var idleTimeout: Duration = .seconds(30)
        /// How long a connection without a request is kept open; 15 s by default.
        public var idleConnectionLifetime: Duration = .seconds(15)
        /// Most connections to one scheme, host and port, idle ones included; 16 by default, at least 1.
        ///
        /// Further requests queue: the highest class first (``OriginRequest/demand``), in it the newest. A body that its consumer
        /// pulls slower than the origin sends, as of a film that is watched, keeps its connection, but does not count after
        /// ``parkingTime``.
        public var maximumConnectionsPerHost = 16
        /// How long a request queues for a connection; 30 s by default.
        ///
        /// Beyond it: `originTimedOut`, and the request is not sent.
        public var queueTimeout: Duration = .seconds(30)
        /// The time over which the pace of a body's consumer is judged; 5 s by default.
        ///
        /// A body that is not pulled at all for so long is parked.
        public var parkingTime: Duration = .seconds(5)
        /// Most bodies of one scheme, host and port whose consumers are slow and that do not count; 240 by default.
        ///
        /// Above it, the body that was parked first is given up: after the bytes that have arrived it ends with
        /// `originBodyTruncated`. Bodies that are pulled, however slowly, are not given up; above this number they count.
        public var maximumThrottledPerHost = 240
        /// Most connections to one scheme, host and port that are kept without a request; 4 by default.
        public var maximumIdlePerHost = 4
        /// Most redirects that one request follows; 10 by default.
        ///
        /// Beyond it: `originRedirectRefused`.
        public var redirectLimit = 10
        /// Most bytes of one body that are read ahead of the consumer; 256 KiB by default, 16 to 512 KiB.
        ///
        /// A body begins with none and earns 1/128 of what has come.
        ///
        /// Reading goes on while fewer bytes are buffered; with the last read, at most 1 MiB is.
        public var readAhead = 262_144
        /// Certificates that are trusted besides the system's roots, each a text in PEM form; none by default.
        ///
        /// Verification itself cannot be switched off. A text that holds no certificate makes every https request fail
        /// with `originNotTrusted`.
        public var additionalTrustRoots: [String] = []
        /// Whether peers outside the public internet are refused with `originForbidden`; false by default.
        ///
        /// Judged by the addresses of a name before any connection is tried, for every redirect again; of a name with several
        /// the others are used. Refused are loopback, link-local, private (RFC 1918), unique-local, carrier-grade NAT, unspecified, multicast and reserved ones, also
        /// where an IPv6 address carries them.
        public var forbidsPrivateAddresses = false
        /// Says whether a host may be asked, for every redirect anew; `nil`, the default, allows all.
        ///
        /// Gets the name in lower case, an IPv6 literal without brackets. A host that it refuses: `originForbidden`.
        public var allowsHost: (@Sendable (String) -> Bool)?
        /// `User-Agent` of requests that bring none; `reprise/` and the version by default.
        public var userAgent = "reprise/\(NIOOrigin.version)"

        /// The defaults.
        public init() {}
    }
}
