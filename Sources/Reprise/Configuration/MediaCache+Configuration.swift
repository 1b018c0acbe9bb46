public import HTTPSemantics

extension MediaCache {
    /// Settings of a cache; the defaults suit a player on one user's machine.
    public struct Configuration: Sendable {
        /// Maximum size on disk, in bytes: the file system's blocks, the index included.
        ///
        /// Least recently used entries are evicted before the limit is reached. The cache never exceeds it by 1 MiB or
        /// more; after you lower the limit, that holds from the next write. With a limit below 8 MiB, a representation
        /// larger than the limit is not stored at all. 2 GB (2,000,000,000 bytes) by default; negative numbers count as
        /// 0, numbers above 2^53 as 2^53.
        public var limit: Int64 = 2_000_000_000 { didSet { isLimitGiven = true } }
        /// Bytes to leave free on the disk, regardless of the limit; 200 MB by default.
        ///
        /// Where they are fewer, media leave 1 MiB to the index all the same: bytes that it cannot record would be
        /// lost.
        public var minimumFree: Int64 = 200_000_000
        /// Maximum size of one entry, in bytes; larger representations bypass the store.
        ///
        /// `nil`, the default, for no such limit: if an entry is larger than ``limit``, its least useful parts are
        /// evicted.
        public var entryLimit: Int64?
        /// How long an unused entry is kept; `nil`, the default, for as long as there is room.
        ///
        /// Checked when the cache is opened, and every hour.
        public var maximumAge: Duration?
        /// Maximum number of data files kept open besides those being read; each costs the process a descriptor.
        ///
        /// `nil`, the default, for a quarter of the descriptors available to the process when the cache is opened,
        /// between 16 and 512.
        public var openFiles: Int?
        /// Downloads that run at once (``MediaCache/downloads``), at least 1; 2 by default, because more would take
        /// bandwidth from playback.
        ///
        /// With background downloads up to 64 run, and the system decides how many of them transfer.
        public var maximumDownloads = 2
        /// Most bytes per second that all downloads fetch together; `nil`, the default, for no limit.
        ///
        /// Playing and preloading are never slowed, nor is a download that a player joins. Numbers below 1 count as 1.
        /// ``Downloads/rate`` changes it while the cache is in use.
        public var downloadRate: Int64?
        /// The hours of each day in which downloads run; `nil`, the default, for all.
        ///
        /// ``Downloads/window`` changes them while the cache is in use.
        public var downloadWindow: DailyWindow?
        /// Encrypts everything that reveals what was watched; `nil`, the default, for a plain cache.
        ///
        /// A cache that holds entries can only be opened with the key it was made with, a plain one only without a key.
        /// Otherwise ``MediaCache/open(directory:origin:configuration:)-(String,_,_)`` throws `keyUnavailable` and
        /// changes nothing.
        public var encryption: CacheEncryption?
        /// Whether a cache made with another key, or without one, is emptied and restarted with this key.
        ///
        /// That deletes everything it held, pinned entries and downloads included (``CacheEvent/storeReset(reason:)``).
        /// False by default.
        public var resetsWhenKeyDiffers = false
        /// How a URL becomes a cache key; the whole URL by default.
        public var keyPolicy = CacheKeyPolicy.url
        /// When ranges of different responses may be joined; by default only under a strong validator (RFC 9110
        /// §15.3.7.3).
        public var generationPolicy = GenerationPolicy.strict
        /// How long a fetch without readers is kept, paused, in case the player comes back.
        ///
        /// 10 ms by default: in recorded traces 90 % of the reopenings come within 5 ms, 95 % within 90 ms, and the
        /// rest after seconds, while the origin would keep filling the paused connection.
        public var linger = Duration.milliseconds(10)
        /// How long a fetch keeps its connection while its readers are still busy with earlier bytes; 5 s by default.
        ///
        /// Then the connection closes, and a request for the rest follows when a reader wants more. The reader doesn't
        /// notice, and no retry is used up. Requires a strong validator (or a ``generationPolicy`` that doesn't need
        /// one) and an origin that supports range requests.
        public var parkingTime = Duration.seconds(5)
        /// When stored responses may be used without asking the origin.
        public var reuse = ReusePolicy()
        /// How failed fetches are retried.
        public var retry = RetryPolicy()
        /// Says what requests need besides their own URL and fields: a fresh token, a URL with a new signature; `nil`,
        /// the default, for nothing.
        ///
        /// Asked when a download begins, because request fields are not recorded, and once whenever an origin answers
        /// a GET or HEAD with 401, 403 or 407, in the middle of a play or a download, too; the request is then
        /// repeated. What it returns goes with all further requests for that resource, until it is refused in turn.
        /// `nil` means that there is nothing better: the refusal stands. Stored bytes stay where the validator holds.
        /// Called from any thread, for one resource once at a time. In a shared cache
        /// (``ReusePolicy/isShared``), what is returned is the server's own, and answers are stored for all.
        public var authorize: (@Sendable (AuthorizationRequest) async throws -> Authorization?)?
        /// The clocks; the system's by default.
        public var clock = CacheClock.system

        /// Which entries go first when room is needed.
        package var evictionPolicy = EvictionPolicy.liveFirst
        /// The file system; tests replace it to make the disk fail.
        package var fileSystem: any FileSystem = SystemFileSystem()
        /// Called where a crash would leave the store between two states.
        package var reached: (@Sendable (CrashPoint) -> Void)?
        /// Called with what ``resetsWhenKeyDiffers`` drops, before anything of it goes.
        package var willReset: (@Sendable (Holdings) -> Void)?
        /// Whether the limit was set explicitly; if so, it is recorded.
        private(set) var isLimitGiven = false
        /// Whether the recorded limit applies when none was set; for commands that open a cache with another program's
        /// settings.
        package var usesRecordedLimit = false
        /// Whether unfinished downloads resume when the cache is opened; off for maintenance commands.
        package var resumesDownloads = true
        /// How far ahead of players the files of a host, in lower case, are fetched; `nil` for as they request it.
        package var readAhead: (@Sendable (String) -> ReadAhead)?
        /// Finds the files of streams that are downloaded; without it a playlist is a file like others.
        package var streamPlanner: (any StreamPlanner)?
        /// Longest time that finished chunks wait to be recorded.
        package var recordDelay = Recorder.batchDelay

        /// The defaults.
        public init() {}

        /// The defaults, with another ``limit`` in bytes.
        public init(limit: Int64) {
            self.limit = limit
            isLimitGiven = true
        }

        /// The name of a setting that must match when a directory is opened twice and doesn't; `nil` if all match.
        func difference(from other: Configuration) -> String? {
            if limit != other.limit { return "limit" }
            if reuse.isShared != other.reuse.isShared { return "kind: private and shared" }
            return nil
        }
    }
}
