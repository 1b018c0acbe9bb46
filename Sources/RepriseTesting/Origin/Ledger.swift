/// The state of an origin: its resources, its counters, and the gates that hold responses back.
///
/// Pure: it returns the closures that wake waiters; its owner, which guards it with a lock, calls them.
struct Ledger: Sendable {
    struct Entry: Sendable {
        var resource: TestOrigin.Resource
        var representation: Int
        var requests = 0
    }

    /// A request that has been matched with a resource, before it is logged.
    struct Admission: Sendable {
        let path: String
        /// `nil` if there is no resource.
        let entry: Entry?
    }

    private(set) var snapshot = TestOrigin.Snapshot()
    private var entries: [String: Entry] = [:]
    private var nextNumber = 1
    private var nextConnection = 1
    /// The number of the first request in the log; the log has no gaps.
    private var firstInLog = 1
    var gates: [String: Gate] = [:]
    /// Number of bytes that all bodies may still take; `nil` for any number.
    var allowance: Int64?

    // MARK: Resources

    mutating func set(_ resource: TestOrigin.Resource, at path: String) {
        var representation = snapshot.paths[path]?.representation ?? 0
        if let old = entries[path]?.resource, old.content != resource.content || old.etag != resource.etag {
            representation += 1
        }
        entries[path] = Entry(resource: resource, representation: representation)
        snapshot.paths[path, default: PathTally()].representation = representation
    }

    mutating func removeResource(at path: String) {
        guard entries.removeValue(forKey: path) != nil else { return }
        snapshot.paths[path]?.representation += 1
    }

    mutating func removeAllResources() {
        entries = [:]
    }

    // MARK: Requests

    mutating func admit(target: String) -> Admission {
        let bare = target.firstIndex(of: "?").map { String(target[..<$0]) } ?? target
        let path = entries[target] == nil ? bare : target
        entries[path]?.requests += 1
        return Admission(path: path, entry: entries[path])
    }

    mutating func log(_ make: (_ number: Int) -> HTTPRequestSummary) -> HTTPRequestSummary {
        let request = make(nextNumber)
        nextNumber += 1
        snapshot.requests.append(request)
        return request
    }

    mutating func answered(_ request: HTTPRequestSummary, status: Int) {
        change(request) { $0.status = status }
    }

    mutating func sent(_ part: BodyPart, to request: HTTPRequestSummary, representation: Int) {
        snapshot.paths[request.path, default: PathTally()].count(part, of: representation)
        change(request) { $0.bodyBytesSent += part.length }
    }

    mutating func ended(_ request: HTTPRequestSummary, with outcome: HTTPRequestSummary.Outcome) {
        change(request) { $0.outcome = outcome }
    }

    private mutating func change(_ request: HTTPRequestSummary, _ body: (inout HTTPRequestSummary) -> Void) {
        let index = request.number - firstInLog
        guard snapshot.requests.indices.contains(index) else { return }
        body(&snapshot.requests[index])
    }

    // MARK: Connections and counters

    mutating func connectionOpened() -> Int {
        snapshot.connectionsAccepted += 1
        snapshot.openConnections += 1
        defer { nextConnection += 1 }
        return nextConnection
    }

    mutating func connectionClosed() {
        snapshot.openConnections -= 1
    }

    mutating func resetCounters() {
        snapshot.requests = []
        snapshot.connectionsAccepted = 0
        snapshot.paths = snapshot.paths.mapValues { PathTally(representation: $0.representation) }
        firstInLog = nextNumber
    }
}
