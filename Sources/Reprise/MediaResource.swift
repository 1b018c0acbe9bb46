public import HTTPSemantics
public import HTTPTypes

/// One remote file as the cache sees it.
public struct MediaResource: Sendable {
    /// The URL requested from the origin.
    public let url: ResourceURL
    /// The key that selects the entry.
    public let key: CacheKey
    let fields: HTTPFields
    /// The live resource at the time when this value was made.
    private let resource: LiveResource
    /// Keeps the cache open as long as one of its resources exists.
    private let cache: MediaCache
    /// Which networks its requests may use; any by default.
    public var networkPolicy = NetworkPolicy.any
    /// The play that its reads belong to; `nil` for one that lasts as ``ReusePolicy/playWindow`` says.
    package var play: Play?
    /// What a playlist says about the resource; responses that its reads store, or find stored, get this role.
    package var role: StreamRole?
    /// The titles that the resource is a file of, as playlists say; recorded with responses that its reads store.
    package var titles: [TitleReference] = []
    /// How long a read repeats requests to an origin that fails before its first byte; `nil` for as long as
    /// ``RetryPolicy`` says.
    package var patience: Duration?
    /// How a download derives the keys of a stream's files; `nil` for the cache's own rule.
    var keyRule: KeyRule?

    init(url: ResourceURL, key: CacheKey, fields: HTTPFields, resource: LiveResource, cache: MediaCache) {
        self.cache = cache
        self.url = url
        self.key = key
        self.fields = fields
        self.resource = resource
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
        let range = try range?.checked
        request.demand = demand
        return try await begin(wanted(range, by: request, directives))
    }

    /// As ``read(_:fields:directives:demand:onInterim:)``, where the origin is asked first whether a stored response is
    /// current, however fresh it is.
    package func readValidated(_ range: RangeSpec) async throws -> MediaRead {
        var wanted = wanted(try range.checked, by: originRequest)
        wanted.isValidating = true
        return try await begin(wanted)
    }

    /// As ``read(_:fields:directives:demand:onInterim:)``, where the origin must not be asked; if only the beginning of
    /// `range` is stored, the read begins, and throws `notStored` at the first hole.
    package func readStoredBeginning(
        of range: RangeSpec, fields extra: HTTPFields, directives: CacheControl
    ) async throws -> MediaRead {
        var wanted = wanted(try range.checked, by: request(extra), directives)
        wanted.mayBreakOff = true
        return try await begin(wanted)
    }

    /// The first bytes that are stored, up to `count`, to find out what the file is; the origin is not asked.
    ///
    /// It counts neither as a read nor as bytes given to a reader. Empty if nothing is stored.
    package func storedBeginning(atMost count: Int64, fields extra: HTTPFields) async throws -> [UInt8] {
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        var look = wanted(.bounded(0..<count), by: request(extra), directives)
        (look.isCounted, look.isUse, look.mayBreakOff) = (false, false, true)
        var bytes: [UInt8] = []
        do {
            let read = try await begin(look)
            defer { read.cancel() }
            while let more = try await read.nextBytes() { bytes += more }
        } catch let error as RepriseError where error.code == .notStored || error.code == .rangeNotSatisfiable {
            return bytes
        }
        return bytes
    }

    private func wanted(
        _ range: RangeSpec?, by request: OriginRequest, _ directives: CacheControl = CacheControl()
    ) -> ReadRequest {
        ReadRequest(
            range: range, origin: request, directives: directives, play: play, role: role, titles: titles,
            asOf: engine.removedTitleCount)
    }

    private func begin(_ wanted: ReadRequest) async throws -> MediaRead {
        let read = try await current().open(wanted)
        // Only now is a response that was not in memory.
        if let role { assign(role, to: read.information) }
        read.keep(cache)
        return read
    }

    /// Gives the stored response that `information` describes a role; does nothing if it is not the current one.
    package func assign(_ role: StreamRole, to information: ContentInformation) {
        for resource in engine.family(of: key) {
            if let generation = resource.liveGeneration, generation.information.generation == information.generation {
                generation.assign(role)
            }
        }
    }

    /// Records that the files at `urls` belong to `titles`, as far as they are stored; `asOf` is
    /// ``MediaRead/removedTitleCount`` of the read that says so.
    package func note(_ urls: [ResourceURL], in titles: [TitleReference], asOf: Int?) {
        let keys = urls.map { key(for: $0) }
        for title in titles { cache.note(keys, in: title, asOf: asOf) }
    }

    /// The title whose first file is at `url`.
    package func title(at url: ResourceURL) -> TitleReference { TitleReference(key: key(for: url), url: url) }

    /// The key that `url` has in this resource's cache, for the same users; its own for its own URL.
    package func key(for url: ResourceURL) -> CacheKey {
        if url == self.url { return key }
        return engine.configuration.keyPolicy.key(for: url).inPartition(key.partition)
    }

    /// Whether its host could not be reached a moment ago, and has not answered since.
    package var isHostAway: Bool { engine.awayHosts.contains(url.authority) }

    var engine: Engine { resource.engine }

    /// Downloads the resource, and names its title unless `name` is `nil`.
    func download(_ selection: StreamSelection?, name: String?) async throws {
        if let name { try MediaCache.check(name) }
        try await cache.retain(self, as: .download, selection: selection)
        if let name { try await cache.setName(name, ofTitle: self) }
    }

    /// The live resource in the table, if there is one.
    var live: LiveResource? { resource.isDetached ? engine.liveResource(key) : resource }

    /// The live resource in the table, which is made if there is none.
    ///
    /// Throws ``RepriseError`` with code `closed`.
    func current() throws(RepriseError) -> LiveResource { try resource.current() }

    /// The request that asks the origin for the resource.
    var originRequest: OriginRequest { request([:]) }

    func request(_ extra: HTTPFields, method: HTTPRequest.Method = .get) -> OriginRequest {
        var request = OriginRequest(url: url, method: method, fields: extra.isEmpty ? fields : fields.merging(extra))
        request.networkPolicy = networkPolicy
        request.context.patience = patience
        request.context.key = key
        return request
    }

    /// Sends HEAD to the origin and returns its response head unchanged; nothing is stored.
    ///
    /// Throws ``RepriseError`` with an `origin…` code, or `CancellationError`.
    public func head(fields extra: HTTPFields = [:]) async throws -> HTTPResponse {
        try await current().head(request(extra, method: .head))
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
        var request = request(extra, method: method)
        request.body = body
        return try await current().forward(request)
    }

    /// What finds its stored bytes.
    package var hits: HitFinder { HitFinder(resource: resource) }
}

/// Finds the stored bytes of a resource; one reference, because servers ask for every request.
package struct HitFinder: Sendable {
    fileprivate let resource: LiveResource

    /// The beginning of `range`, at most `count` bytes, if all of `range` is stored, verified, and usable without
    /// asking the origin.
    ///
    /// Never waits. ``StoredRegion/following(_:upTo:)`` returns the rest, piece by piece.
    package func hit(_ range: RangeSpec?, atMost count: Int64, for directives: CacheControl?) -> StoredHit? {
        let live = resource.isDetached ? resource.engine.liveResource(resource.key) : resource
        return live?.hit(range, atMost: count, for: directives)
    }
}

extension RangeSpec {
    /// The range, with its numbers clipped to 2^53; throws ``RepriseError`` with code `invalidArgument` if no request
    /// can express it.
    var checked: RangeSpec {
        get throws(RepriseError) {
            guard let clipped else {
                throw RepriseError(
                    .invalidArgument, "A range has at least one byte and begins at 0 or later; \(self) does not.")
            }
            return clipped
        }
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
