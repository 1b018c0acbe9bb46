/// The resources in memory, with the rules for which of them leave when there are many.
///
/// A new resource is on trial, in a small share of its own. Only resources that turn out to have stored bytes move on,
/// so that unknown and refused URLs push nothing out. Both shares are queues: the oldest idle resource leaves first,
/// and one that was used since the last look gets a second chance. Each insertion looks at a few only. If all of those
/// are in use, the table grows, and later insertions make up for it.
struct ResourceTable<Resource> {
    /// The outcome for a resource on trial.
    enum Trial { case settles, stays, leaves }
    /// The outcome for a settled resource.
    enum Review { case stays, leaves }

    private struct Place {
        let resource: Resource
        let name: String
        let primary: CacheKey?
        let number: UInt64
        var isOnTrial = true
    }

    private struct Queue {
        private var items: [(key: CacheKey, number: UInt64)] = []
        private var head = 0
        /// Number of resources in the table; the queue may also hold keys that were removed since.
        var count = 0

        var isSparse: Bool { items.count > 2 * count + 64 }

        mutating func push(_ key: CacheKey, number: UInt64) {
            items.append((key, number))
            count += 1
        }

        /// Drops popped items and those that `isWanted` rejects.
        mutating func keep(_ isWanted: (CacheKey, UInt64) -> Bool) {
            items = items[head...].filter { isWanted($0.key, $0.number) }
            head = 0
        }

        mutating func pop() -> (key: CacheKey, number: UInt64)? {
            guard head < items.count else { return nil }
            defer { head += 1 }
            return items[head]
        }
    }

    private let capacity: Int
    private let trialCapacity: Int
    private var places: [CacheKey: Place] = [:]
    private var keys: [String: CacheKey] = [:]
    private var variants: [CacheKey: Set<CacheKey>] = [:]
    private var trial = Queue()
    private var settled = Queue()
    private var lastNumber: UInt64 = 0

    /// Number of resources that one insertion looks at in each share.
    static var looks: Int { 4 }

    /// Creates a table of `capacity` settled resources and `trialCapacity` on trial; more only while those are in use.
    init(capacity: Int, trialCapacity: Int) {
        self.capacity = capacity
        self.trialCapacity = trialCapacity
    }

    var count: Int { places.count }
    var all: [Resource] { places.values.map(\.resource) }

    subscript(key: CacheKey) -> Resource? { places[key]?.resource }

    /// Whether a resource has `name`, its name in the index.
    func contains(name: String) -> Bool { keys[name] != nil }

    /// The resource of `key` and its variants.
    func family(of key: CacheKey) -> [Resource] {
        ([key] + (variants[key] ?? [])).compactMap { places[$0]?.resource }
    }

    /// Adds a resource whose key is not in the table, and checks whether others may leave.
    mutating func insert(
        _ resource: Resource, at key: CacheKey, name: String, primary: CacheKey?, trial judge: (Resource) -> Trial,
        review: (Resource) -> Review
    ) {
        makeRoomOnTrial(judge)
        makeRoom(review)
        lastNumber += 1
        places[key] = Place(resource: resource, name: name, primary: primary, number: lastNumber)
        keys[name] = key
        if let primary { variants[primary, default: []].insert(key) }
        queue(key, number: lastNumber, onTrial: true)
    }

    mutating func remove(_ key: CacheKey) {
        guard let place = places.removeValue(forKey: key) else { return }
        keys[place.name] = nil
        if let primary = place.primary {
            variants[primary]?.remove(key)
            if variants[primary]?.isEmpty == true { variants[primary] = nil }
        }
        if place.isOnTrial { trial.count -= 1 } else { settled.count -= 1 }
    }

    /// Moves a resource popped from its queue to the end of that or the other queue.
    private mutating func requeue(_ key: CacheKey, number: UInt64, onTrial: Bool) {
        if places[key]?.isOnTrial == true { trial.count -= 1 } else { settled.count -= 1 }
        queue(key, number: number, onTrial: onTrial)
    }

    private mutating func queue(_ key: CacheKey, number: UInt64, onTrial: Bool) {
        places[key]?.isOnTrial = onTrial
        if onTrial { trial.push(key, number: number) } else { settled.push(key, number: number) }
        purge()
    }

    /// Removes stale items from the queues once they outnumber the current ones.
    private mutating func purge() {
        func isCurrent(_ key: CacheKey, number: UInt64, onTrial: Bool) -> Bool {
            places[key].map { $0.number == number && $0.isOnTrial == onTrial } ?? false
        }
        if trial.isSparse { trial.keep { isCurrent($0, number: $1, onTrial: true) } }
        if settled.isSparse { settled.keep { isCurrent($0, number: $1, onTrial: false) } }
    }

    private mutating func makeRoomOnTrial(_ judge: (Resource) -> Trial) {
        var looks = 0
        while trial.count >= trialCapacity, looks < Self.looks, let next = trial.pop() {
            guard let place = places[next.key], place.number == next.number, place.isOnTrial else { continue }
            looks += 1
            switch judge(place.resource) {
            case .leaves: remove(next.key)
            case .stays: requeue(next.key, number: next.number, onTrial: true)
            case .settles: requeue(next.key, number: next.number, onTrial: false)
            }
        }
    }

    private mutating func makeRoom(_ review: (Resource) -> Review) {
        var looks = 0
        while settled.count > capacity, looks < Self.looks, let next = settled.pop() {
            guard let place = places[next.key], place.number == next.number, !place.isOnTrial else { continue }
            looks += 1
            if case .leaves = review(place.resource) {
                remove(next.key)
            } else {
                requeue(next.key, number: next.number, onTrial: false)
            }
        }
    }
}
