/// Which classes of demand wait for bytes, by origin.
///
/// A pure value; ``Precedence`` guards it. An origin is dropped when nothing waits and nothing gives way there.
struct PrecedenceTable: Sendable {
    private struct Site {
        /// Number of waiting readers, by class.
        var waiting: [Demand: Int] = [:]
        /// Number of the last wait that began, by class.
        var lastWait: [Demand: Int] = [:]
        /// Number of requests and fetches that give way.
        var yielding = 0

        var isUnused: Bool { waiting.isEmpty && yielding == 0 }
    }

    private var sites: [String: Site] = [:]
    /// Number of waits that have begun, at any origin.
    private(set) var waitsBegun = 0

    var isEmpty: Bool { sites.isEmpty }
    /// Whether a reader waits anywhere.
    var hasWaiting: Bool { sites.values.contains { !$0.waiting.isEmpty } }

    /// A reader begins to wait for bytes of `authority`.
    mutating func readerWaits(_ demand: Demand, at authority: String) {
        waitsBegun += 1
        var site = sites[authority] ?? Site()
        site.waiting[demand, default: 0] += 1
        site.lastWait[demand] = waitsBegun
        sites[authority] = site
    }

    /// A waiting reader got its bytes, or left.
    mutating func readerGoesOn(_ demand: Demand, at authority: String) {
        guard var site = sites[authority], let count = site.waiting[demand] else { return }
        site.waiting[demand] = count > 1 ? count - 1 : nil
        sites[authority] = site.isUnused ? nil : site
    }

    /// Whether a reader of a higher class than `demand` waits.
    func isOutranked(_ demand: Demand, at authority: String) -> Bool {
        sites[authority]?.waiting.keys.contains { $0 > demand } ?? false
    }

    /// Whether a reader of a higher class began to wait after the first `waits` waits.
    ///
    /// Call it between ``beginYielding(at:)`` and ``endYielding(at:)`` only.
    func isOutranked(_ demand: Demand, at authority: String, since waits: Int) -> Bool {
        sites[authority]?.lastWait.contains { $0.key > demand && $0.value > waits } ?? false
    }

    /// Whether a request or a fetch gives way there.
    func isYielding(at authority: String) -> Bool { sites[authority]?.yielding ?? 0 > 0 }

    mutating func beginYielding(at authority: String) { sites[authority, default: Site()].yielding += 1 }

    mutating func endYielding(at authority: String) {
        guard var site = sites[authority] else { return }
        site.yielding -= 1
        sites[authority] = site.isUnused ? nil : site
    }
}
