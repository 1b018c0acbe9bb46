public import ByteRanges
public import HTTPSemantics
public import HTTPTypes

/// One remote file, as the cache sees it.
public struct MediaResource: Sendable {
    /// The URL that is asked for.
    public let url: ResourceURL
    /// What selects its entry.
    public let key: CacheKey
    let fields: HTTPFields
    let core: ResourceCore
    /// Stays open as long as there is a resource of it.
    private let cache: MediaCache
    /// Which networks its requests may use; any by default.
    public var networkPolicy = NetworkPolicy.any

    init(url: ResourceURL, key: CacheKey, fields: HTTPFields, core: ResourceCore, cache: MediaCache) {
        self.cache = cache
        self.url = url
        self.key = key
        self.fields = fields
        self.core = core
    }

    /// Begins a read of `range`, or of the whole representation.
    ///
    /// Returns when the head is known: at once if something is stored, else with the origin's response to exactly this
    /// request. `fields` are added to the resource's own and go to the origin if this read has to fetch.
    ///
    /// `directives` are those of the request that this read serves, where it serves one (RFC 9111 §5.2.1). What is stored
    /// but stale is validated first (RFC 9111 §4.3), as ``ReusePolicy`` says. `demand` is what the bytes are wanted for: at
    /// each origin higher classes go first. `onInterim` is called with the interim
    /// responses (1xx) that precede the origin's answer to this read, should it be asked.
    ///
    /// An end beyond the representation is clipped, as RFC 9110 §14.1.2 says; so are offsets and lengths above 2^53.
    ///
    /// Throws ``RepriseError``: `invalidArgument` for a range that is empty or negative, `rangeNotSatisfiable` for one that
    /// lies outside the representation (RFC 9110 §15.5.17), `originRefused` with the origin's response, `notStored` if the
    /// origin must not be asked, any other `origin…` code; or `CancellationError`.
    public func read(
        _ range: RangeSpec? = nil, fields extra: HTTPFields = [:], directives: CacheControl = CacheControl(),
        demand: Demand = .playing, onInterim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws -> MediaRead {
        var request = request(extra)
        request.onInterim = onInterim
        let range = try range.map { try Self.checked($0) }
        request.demand = demand
        let read = try await core.current().open(
            ReadRequest(range: range, origin: request, directives: directives))
        read.keep(cache)
        return read
    }

    /// A range that a request can say, with its numbers clipped to 2^53.
    private static func checked(_ range: RangeSpec) throws(RepriseError) -> RangeSpec {
        guard let clipped = range.clipped else {
            throw RepriseError(
                .invalidArgument, "A range has at least one byte and begins at 0 or later; \(range) does not.")
        }
        return clipped
    }

    /// The core in the table, if there is one.
    private var live: ResourceCore? { core.isDetached ? core.engine.liveResource(key) : core }

    /// How the origin is asked for it.
    var originRequest: OriginRequest { request([:]) }

    private func request(_ extra: HTTPFields, _ method: HTTPRequest.Method = .get) -> OriginRequest {
        var request = OriginRequest(url: url, method: method, fields: extra.isEmpty ? fields : fields.merging(extra))
        request.networkPolicy = networkPolicy
        return request
    }

    /// What is known of the representation; asks the origin with a request for the first byte if nothing is.
    public func contentInformation() async throws -> ContentInformation {
        if let information = storedInformation { return information }
        return try await read(.bounded(0..<1)).information
    }

    /// Asks the origin with HEAD and returns its head as it came; nothing is stored.
    ///
    /// Throws ``RepriseError`` with an `origin…` code, or `CancellationError`.
    public func head(fields extra: HTTPFields = [:]) async throws -> HTTPResponse {
        try await core.current().head(request(extra, .head))
    }

    /// What is known, if it may answer a request with these directives without asking the origin.
    public func usableInformation(_ directives: CacheControl = CacheControl()) -> ContentInformation? {
        live?.usableInformation(directives)
    }

    /// What is stored for a request with these fields, if it may answer one with these directives without asking the
    /// origin; unlike ``usableInformation(_:)`` it looks into the index too.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`, or `CancellationError`.
    public func storedAnswer(_ directives: CacheControl, fields extra: HTTPFields) async throws -> ContentInformation? {
        guard let generation = try await core.current().stored(for: request(extra)),
            generation.reuse(for: directives) == .serve
        else {
            return nil
        }
        return generation.information
    }

    /// Sends a request with another method than GET and HEAD to the origin; nothing of it is stored.
    ///
    /// A method that may change the resource makes what is stored stale, unless the origin refuses (RFC 9111 §4.4): that
    /// of this URL, and of those that Location and Content-Location of the response name on the same host.
    ///
    /// Throws ``RepriseError`` with an `origin…` code, `notStored` in offline mode, or `CancellationError`.
    public func send(
        _ method: HTTPRequest.Method, fields extra: HTTPFields = [:], body: [UInt8] = []
    ) async throws -> OriginResponse {
        var request = request(extra, method)
        request.body = body
        return try await core.current().forward(request)
    }

    /// The generation in memory that answers the resource's own requests.
    var liveGeneration: GenerationCore? { live?.liveGeneration(for: originRequest) }

    /// What is known without asking anybody.
    public var storedInformation: ContentInformation? { liveGeneration?.information }

    /// Which bytes are stored.
    ///
    /// Looks into the index if the resource was not used yet, which may wait for the disk; ``storedProgress()`` never
    /// blocks.
    public var storedRanges: ByteRangeSet { liveGeneration?.storedRanges ?? recorded()?.ranges ?? ByteRangeSet() }

    /// All of `range` in one region, if it is stored, verified, and may be used without asking the origin.
    ///
    /// Never waits; `nil`, too, for a range that is empty, negative or outside the representation. `directives` as in
    /// ``read(_:fields:directives:demand:onInterim:)``. Not counted in the statistics.
    public func storedRegion(
        _ range: RangeSpec? = nil, directives: CacheControl? = nil
    ) -> (region: StoredRegion, information: ContentInformation)? {
        storedHit(range, atMost: .max, directives: directives).map { ($0.region, $0.information) }
    }

    /// The beginning of `range`, at most `count` bytes of it, if all of it is stored, verified, and may be used without
    /// asking the origin.
    ///
    /// Never waits. ``StoredRegion/following(_:upTo:)`` gives the rest, piece by piece.
    package func storedHit(
        _ range: RangeSpec?, atMost count: Int64, directives: CacheControl?
    ) -> StoredHit? {
        live?.storedRegion(range, atMost: count, directives)
    }
}

extension HTTPFields {
    /// These fields with `other`'s put in place of those of the same name.
    fileprivate func merging(_ other: HTTPFields) -> HTTPFields {
        var merged = self
        for name in Set(other.map(\.name)) { merged[values: name] = other[values: name] }
        return merged
    }
}
