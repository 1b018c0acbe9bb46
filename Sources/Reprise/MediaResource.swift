public import ByteRanges
public import HTTPSemantics
public import HTTPTypes

/// One remote file as the cache sees it.
public struct MediaResource: Sendable {
    /// The URL requested from the origin.
    public let url: ResourceURL
    /// The key that selects the entry.
    public let key: CacheKey
    let fields: HTTPFields
    let core: LiveResource
    /// Keeps the cache open as long as one of its resources exists.
    private let cache: MediaCache
    /// Which networks its requests may use; any by default.
    public var networkPolicy = NetworkPolicy.any

    init(url: ResourceURL, key: CacheKey, fields: HTTPFields, core: LiveResource, cache: MediaCache) {
        self.cache = cache
        self.url = url
        self.key = key
        self.fields = fields
        self.core = core
    }

    /// Begins a read of `range`, or of the whole representation.
    ///
    /// Returns when the head is known: at once if something is stored, otherwise with the origin's response to exactly
    /// this request. `fields` are added to the resource's own fields and sent to the origin if this read has to fetch.
    ///
    /// `directives` are those of the client request that this read serves, if any (RFC 9111 §5.2.1). A stale stored
    /// response is validated first (RFC 9111 §4.3), as ``ReusePolicy`` specifies. `demand` says what the bytes are
    /// wanted for; at each origin, higher classes go first. `onInterim` is called with the interim responses (1xx) that
    /// precede the origin's answer to this read, if the origin is asked.
    ///
    /// An end beyond the representation is clipped, as RFC 9110 §14.1.2 says; so are offsets and lengths above 2^53.
    ///
    /// Throws ``RepriseError``: `invalidArgument` for an empty or negative range, `rangeNotSatisfiable` for a range
    /// outside the representation (RFC 9110 §15.5.17), `originRefused` with the origin's response, `notStored` if the
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

    /// The range, with its numbers clipped to 2^53; throws if no request can express it.
    private static func checked(_ range: RangeSpec) throws(RepriseError) -> RangeSpec {
        guard let clipped = range.clipped else {
            throw RepriseError(
                .invalidArgument, "A range has at least one byte and begins at 0 or later; \(range) does not.")
        }
        return clipped
    }

    /// The live resource in the table, if there is one.
    private var live: LiveResource? { core.isDetached ? core.engine.liveResource(key) : core }

    /// The request that asks the origin for the resource.
    var originRequest: OriginRequest { request([:]) }

    private func request(_ extra: HTTPFields, _ method: HTTPRequest.Method = .get) -> OriginRequest {
        var request = OriginRequest(url: url, method: method, fields: extra.isEmpty ? fields : fields.merging(extra))
        request.networkPolicy = networkPolicy
        return request
    }

    /// The metadata of the representation; asks the origin for the first byte if it is not known yet.
    public func contentInformation() async throws -> ContentInformation {
        if let information = storedInformation { return information }
        return try await read(.bounded(0..<1)).information
    }

    /// Sends HEAD to the origin and returns its response head unchanged; nothing is stored.
    ///
    /// Throws ``RepriseError`` with an `origin…` code, or `CancellationError`.
    public func head(fields extra: HTTPFields = [:]) async throws -> HTTPResponse {
        try await core.current().head(request(extra, .head))
    }

    /// The metadata, if it may answer a request with these directives without asking the origin.
    public func usableInformation(_ directives: CacheControl = CacheControl()) -> ContentInformation? {
        live?.usableInformation(directives)
    }

    /// The metadata of the response stored for these request fields, if it may answer a request with these directives
    /// without asking the origin; unlike ``usableInformation(_:)`` this also consults the index.
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

    /// Sends a request with a method other than GET and HEAD to the origin; nothing is stored.
    ///
    /// Unless the origin refuses, a method that may change the resource makes stored responses stale (RFC 9111 §4.4):
    /// those of this URL, and those of the URLs on the same host that the response names in Location and
    /// Content-Location.
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
    var liveGeneration: LiveGeneration? { live?.liveGeneration(for: originRequest) }

    /// The metadata, if it is in memory; asks neither index nor origin.
    public var storedInformation: ContentInformation? { liveGeneration?.information }

    /// The stored bytes.
    ///
    /// Consults the index if the resource has not been used yet, which may wait for the disk; ``storedProgress()``
    /// never blocks.
    public var storedRanges: ByteRangeSet { liveGeneration?.storedRanges ?? recorded()?.ranges ?? ByteRangeSet() }

    /// All of `range` in one region, if it is stored, verified, and usable without asking the origin.
    ///
    /// Never waits. `nil` also for a range that is empty, negative or outside the representation. `directives` as in
    /// ``read(_:fields:directives:demand:onInterim:)``. Not counted in the statistics.
    public func storedRegion(
        _ range: RangeSpec? = nil, directives: CacheControl? = nil
    ) -> (region: StoredRegion, information: ContentInformation)? {
        storedHit(range, atMost: .max, directives: directives).map { ($0.region, $0.information) }
    }

    /// The beginning of `range`, at most `count` bytes, if all of `range` is stored, verified, and usable without
    /// asking the origin.
    ///
    /// Never waits. ``StoredRegion/following(_:upTo:)`` returns the rest, piece by piece.
    package func storedHit(
        _ range: RangeSpec?, atMost count: Int64, directives: CacheControl?
    ) -> StoredHit? {
        live?.storedRegion(range, atMost: count, directives: directives)
    }
}

extension HTTPFields {
    /// These fields, with those of the same name replaced by `other`'s.
    fileprivate func merging(_ other: HTTPFields) -> HTTPFields {
        var merged = self
        for name in Set(other.map(\.name)) { merged[values: name] = other[values: name] }
        return merged
    }
}
