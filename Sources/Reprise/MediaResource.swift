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
    /// Which networks its requests may use; any by default.
    public var networkPolicy = NetworkPolicy.any

    init(url: ResourceURL, key: CacheKey, fields: HTTPFields, core: ResourceCore) {
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
    /// Throws ``RepriseError``: `rangeNotSatisfiable` (RFC 9110 §15.5.17), `originRefused` with the origin's response,
    /// `notStored` if the origin must not be asked, any other `origin…` code; or `CancellationError`.
    public func read(
        _ range: RangeSpec? = nil, fields extra: HTTPFields = [:], directives: CacheControl = CacheControl(),
        demand: Demand = .playing, onInterim: (@Sendable (HTTPResponse) -> Void)? = nil
    ) async throws -> MediaRead {
        var request = request(extra)
        request.onInterim = onInterim
        request.demand = demand
        return try await core.current().open(ReadRequest(range: range, origin: request, directives: directives))
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

    /// Which bytes are stored, as far as this process knows: empty before the first read.
    public var storedRanges: ByteRangeSet { liveGeneration?.storedRanges ?? ByteRangeSet() }

    /// All of `range` in one region, if it is stored, verified, and may be used without asking the origin.
    ///
    /// Never waits. `directives` as in ``read(_:fields:directives:)``. Not counted in the statistics.
    public func storedRegion(
        _ range: RangeSpec? = nil, directives: CacheControl? = nil
    ) -> (region: StoredRegion, information: ContentInformation)? {
        live?.storedRegion(range, directives)
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
