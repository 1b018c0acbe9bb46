import HTTPSemantics
public import HTTPTypes
import Primitives

/// One request to an origin.
public struct OriginRequest: Sendable {
    /// The absolute `http` or `https` URL, spelled as the caller spelled it.
    public var url: ResourceURL
    /// The cache itself sends `GET` and `HEAD`; any other method except `CONNECT` and `TRACE` is passed on for a
    /// client.
    public var method: HTTPRequest.Method
    /// End-to-end fields, `Range` and conditions among them.
    ///
    /// The client adds `Host`, `Connection` and the like itself.
    public var fields: HTTPFields
    /// The request's body; empty for GET and HEAD.
    public var body: [UInt8] = []
    /// Called with each interim response (1xx but 100 and 101) before the final one, in order; from any thread.
    ///
    /// Clients that cannot see them never call it.
    public var onInterim: (@Sendable (HTTPResponse) -> Void)?
    /// Which networks the request may use; any by default.
    ///
    /// Honored by clients that can distinguish networks; others ignore it.
    public var networkPolicy = NetworkPolicy.any
    /// What the response is wanted for; `.playing` by default.
    ///
    /// A client that queues requests serves higher classes first; others ignore it.
    public var demand = Demand.playing
    /// How long the origin may be silent, before the head and within the body, if that is longer than the client's own
    /// limits; `nil` for those.
    ///
    /// An origin may hold a request until what it asks for exists (rfc8216bis §6.2.5.2). Clients without such limits
    /// ignore it.
    public var longestSilence: Duration?
    /// For the cache's own layers and clients.
    package var context = OriginContext()

    /// Creates a request; `GET` by default.
    public init(url: ResourceURL, method: HTTPRequest.Method = .get, fields: HTTPFields = [:]) {
        self.url = url
        self.method = method
        self.fields = fields
    }
}

extension OriginRequest {
    /// The host and port to which it counts.
    var account: String { context.account ?? url.authority }

    /// The request for `range`, or for the whole representation without one.
    ///
    /// `condition` makes it conditional on another state than that (RFC 9110 §13.1.2, §13.1.3). `interest` is how much
    /// it is wanted until its response is here; by default ``demand``.
    func asking(
        for range: RangeSpec?, ifRange: String? = nil, unless condition: Validators? = nil,
        interest: RequestInterest? = nil
    ) -> Self {
        var request = self
        request.fields[.range] = range.map { RangeField($0).description }
        request.fields[.ifRange] = ifRange
        if method == .get || method == .head {
            // Of other methods the conditions are the client's.
            request.fields[.ifNoneMatch] = condition?.etag?.description
            request.fields[.ifModifiedSince] = condition?.lastModified?.description
        }
        request.fields[.acceptEncoding] = "identity"
        // A question whether something has changed is short.
        if condition != nil { request.context.errand = nil }
        request.context.range = range
        request.context.interest = interest
        return request
    }
}

/// The parts of a request for the cache's own layers and clients.
package struct OriginContext: Sendable {
    /// The key of the resource that is asked for; ``MediaCache/Configuration/authorize`` is asked about it.
    var key: CacheKey?
    /// The part that is asked for; `nil` for the whole representation.
    var range: RangeSpec?
    /// Whether a stored response is served stale if there is no answer.
    var canServeStale = false
    /// The host and port to which the request counts, if they are not those of its URL.
    var account: String?
    /// The demand while the request is under way; `nil` for requests that do not come from the engine.
    package var interest: RequestInterest?
    /// Whether it has waited for its turn.
    var hasTurn = false
    /// How long failures before the first byte are retried; `nil` for as long as ``RetryPolicy`` says.
    package var patience: Duration?
    /// How its reader proceeds if the origin ignores ranges.
    var rangeFallback = RangeFallback.wait
    /// Whether it is for a decryption key of a download, which is stored although the origin says `no-store`.
    var isForKey = false
    /// Set for media of a download, which a ``BackgroundOrigin`` may transfer in the background.
    package var errand: BackgroundErrand?
    /// Takes in another representation that comes for a hole, for the download that will read it.
    var successor: Successor?
    /// Counts the bytes of its fetches.
    var tally: FetchTally?
    /// Answers instead of the cache's origin, for a file that is imported.
    var source: FileOrigin?
    /// Adds the fields that authenticate a request at the host of its URL; ``OriginRequest/authenticated()`` calls it.
    package var authenticate: (@Sendable (OriginRequest) async -> OriginRequest)?
    /// Called with a sentence about the first violation of HTTP/1.1 in the response that the client tolerates; from any
    /// thread.
    package var onOddity: (@Sendable (String) -> Void)?
}

/// Which networks a request may use, in the terms of Apple's systems.
///
/// `URLSessionOrigin` honors it on Apple's systems; elsewhere, and with other clients, all networks are treated alike.
/// ``never`` holds everywhere.
public enum NetworkPolicy: Sendable, Hashable {
    /// Any network.
    case any
    /// No network that the system considers expensive, such as cellular or a personal hotspot.
    case inexpensive
    /// No expensive network, and none for which the user turned on Low Data Mode.
    case inexpensiveAndUnconstrained
    /// No network: stored bytes are read, however stale, and a read of others throws `notStored`.
    case never
}

/// The fields between two servers of Reprise of which one asks the other in place of origins: an edge and its parent.
package enum EdgeFields {
    /// In a request, the name of the edge: it edits playlists itself, and wants every body as the origin sent it.
    package static let edge = HTTPField.Name("Reprise-Edge") ?? .from
    /// In a response, the URL that answered the parent after redirects, if it is another one than the edge asked for.
    package static let finalURL = HTTPField.Name("Reprise-Final-URL") ?? .contentLocation
    /// How the caches on its way handled a request (RFC 9211).
    package static let cacheStatus = HTTPField.Name("Cache-Status") ?? .age
    /// The proxies that a message passed (RFC 9110 §7.6.3).
    package static let via = HTTPField.Name("Via") ?? .from
}

/// Counts what origins send for one task, in all fetches that began for it.
final class FetchTally: Sendable {
    /// Told the length of each piece; negative for one that is given back.
    let arrived: @Sendable (Int) -> Void
    private let fetches = IdleWait()

    init(_ arrived: @escaping @Sendable (Int) -> Void) { self.arrived = arrived }

    /// A fetch begins.
    func begin() { fetches.begin() }

    /// A fetch is over.
    func end() { fetches.end() }

    /// Returns when all fetches are over: those that no reader wants may still bring what is under way.
    ///
    /// Waits no longer than `patience`, and not for a canceled task.
    func settle(within patience: Duration, _ clock: CacheClock) async {
        let isOver = Promise<Void>()
        Task { [fetches] in
            await fetches.idle()
            isOver.fulfill()
        }
        let timer = Task {
            try? await clock.sleep(patience)
            isOver.fulfill()
        }
        try? await isOver.wait()
        timer.cancel()
    }
}
