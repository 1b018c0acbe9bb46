public import HTTPSemantics

extension MediaCache {
    /// Settings of a cache; the defaults suit a player on one user's machine.
    public struct Configuration: Sendable {
        /// Most bytes on disk, in the file system's blocks and with the index.
        ///
        /// Before it is reached the least recently used entries go; it is exceeded by less than 1 MiB at any time, or,
        /// after it was lowered, from the next write on. Below 8 MiB a representation larger than it is not stored at
        /// all. 2 GB (2,000,000,000 bytes) by default; a negative number counts as 0, one above 2^53 as 2^53.
        public var limit: Int64 = 2_000_000_000 { didSet { isLimitGiven = true } }
        /// Bytes that stay free on the disk, whatever the limit says; 200 MB by default, none if it is negative.
        public var minimumFree: Int64 = 200_000_000
        /// Most bytes that one entry may occupy; what is larger streams past the store.
        ///
        /// `nil`, the default, for no such limit: of an entry larger than ``limit`` the parts least likely to be wanted go.
        public var entryLimit: Int64?
        /// How long an entry stays without being used; `nil`, the default, for as long as there is room.
        ///
        /// Looked at when the cache is opened, and every hour.
        public var maximumAge: Duration?
        /// Most data files that are open at once, beside those that are being read; each costs the process a descriptor.
        ///
        /// `nil`, the default, for a quarter of the descriptors that the process may have when the cache is opened, between 16
        /// and 512.
        public var openFiles: Int?
        /// Encrypts everything that tells what was watched; `nil`, the default, for a plain cache.
        ///
        /// A cache that holds something is opened with the key that it was made with only, a plain one without a key:
        /// ``MediaCache/open(directory:origin:configuration:)`` throws `keyUnavailable` otherwise, and changes nothing.
        public var encryption: CacheEncryption?
        /// Whether a cache that another key was made for, or none, is emptied and begun with this one.
        ///
        /// All that it held is deleted then, pinned entries and downloads too (``CacheEvent/storeReset(reason:)``). False by
        /// default.
        public var resetsWhenKeyDiffers = false
        /// How a URL becomes a cache key; the whole URL by default.
        public var keyPolicy = CacheKeyPolicy.url
        /// When ranges of different responses may be joined; only under a strong validator by default (RFC 9110 §15.3.7.3).
        public var generationPolicy = GenerationPolicy.strict
        /// How long a fetch that nobody reads any more is kept, paused, for a player that comes back.
        ///
        /// 10 ms by default: in recorded traces 90 % of the reopenings come within 5 ms, 95 % within 90 ms, the rest
        /// after seconds, and all the while the origin goes on filling the paused connection.
        public var linger = Duration.milliseconds(10)
        /// How long a fetch keeps its connection while its readers are busy with earlier bytes; 5 s by default.
        ///
        /// Then the connection closes, and a request for the rest follows when a reader wants more: it neither notices nor
        /// uses up a retry. Not without a strong validator (or a ``generationPolicy`` that does without) and an origin that
        /// answers ranges.
        public var parkingTime = Duration.seconds(5)
        /// When stored responses may be used without asking the origin.
        public var reuse = ReusePolicy()
        /// How failed fetches are retried.
        public var retry = RetryPolicy()
        /// Time; the system's clocks by default.
        public var clock = CacheClock.system

        /// Which entries go first when room is needed.
        package var evictionPolicy = EvictionPolicy.leastRecentlyUsed
        /// The disk, for tests that make it fail.
        package var fileSystem: any FileSystem = SystemFileSystem()
        /// Called where a crash would leave the store between two states.
        package var reached: (@Sendable (CrashPoint) -> Void)?
        /// Called with what ``resetsWhenKeyDiffers`` drops, before anything of it goes.
        package var willReset: (@Sendable (Holdings) -> Void)?
        /// Whether somebody chose the limit; it is recorded then.
        private(set) var isLimitGiven = false
        /// Whether the recorded limit counts where none was given; for a command that comes to a cache of somebody else's
        /// settings.
        package var usesRecordedLimit = false
        /// Whether unfinished downloads go on when the cache is opened; off for a command that only looks after it.
        package var resumesDownloads = true
        /// Longest time that finished chunks wait for their record.
        package var recordDelay = Recorder.batchDelay

        /// The defaults.
        public init() {}

        /// The defaults, with another ``limit`` in bytes.
        public init(limit: Int64) {
            self.limit = limit
            isLimitGiven = true
        }

        /// What must not differ between two openings of one directory, and does; `nil` if nothing.
        func difference(from other: Configuration) -> String? {
            if limit != other.limit { return "limit" }
            if reuse.isShared != other.reuse.isShared { return "kind: private and shared" }
            return nil
        }
    }
}

/// How often and how soon a fetch that failed goes on from the byte it had reached.
public struct RetryPolicy: Sendable {
    /// Attempts without progress before readers see the error; 5 by default.
    public var attempts = 5
    /// Upper bound of the first delay; doubles with each attempt.
    ///
    /// 250 ms by default. The delay drawn is anywhere between zero and the bound ("full jitter").
    public var firstDelay = Duration.milliseconds(250)
    /// Upper bound of every delay; 8 s by default.
    public var maximumDelay = Duration.seconds(8)
    /// Bytes that must arrive for the count to start again; 64 KiB by default.
    public var progress: Int64 = 64 << 10
    /// Attempts after a request that got no answer in time: each waits for as long again, and players do not.
    ///
    /// 0 by default. A body that stalls is gone on with, ``attempts`` times.
    public var timeouts = 0
    /// Attempts for a response of 500, 502, 503, 504 or 429, after which it is handed on.
    ///
    /// 2 by default.
    public var refusals = 2

    /// The defaults.
    public init() {}
}

/// Counts the attempts of one fetch.
struct RetryBudget: Sendable {
    private let policy: RetryPolicy
    private var failures = 0
    private var bytesAtFailure: Int64 = 0

    init(_ policy: RetryPolicy) { self.policy = policy }

    /// The delay before the next attempt after `error`, or `nil` when the budget is used up or a retry cannot help.
    mutating func delay(after error: RepriseError, bytes: Int64) -> Duration? {
        if bytes - bytesAtFailure >= policy.progress { failures = 0 }
        bytesAtFailure = bytes
        guard failures < Self.attempts(for: error, isUnderWay: bytes > 0, policy) else { return nil }
        let bound = min(policy.maximumDelay, policy.firstDelay * (1 << min(failures, 16)))
        failures += 1
        if let wanted = error.refusal?.retryAfter, wanted > bound {
            return wanted <= policy.maximumDelay ? wanted : nil
        }
        return bound * Double.random(in: 0...1)
    }

    private static func attempts(for error: RepriseError, isUnderWay: Bool, _ policy: RetryPolicy) -> Int {
        switch error.code {
        case .originUnreachable, .originBodyTruncated: policy.attempts
        case .originTimedOut where error.cause is ConnectionQueueTimeout: policy.timeouts
        case .originTimedOut: isUnderWay ? policy.attempts : policy.timeouts
        case .originRefused: error.refusal?.isTransient == true ? policy.refusals : 0
        default: 0
        }
    }
}
