import Primitives

/// Leftovers of a killed process in the directory, and the findings of the cleanup so far.
///
/// The lock is a leaf.
struct CrashLeftovers: Sendable {
    private struct State {
        /// Generations made since the opening; `nil` once orphans have been removed.
        var made: Set<Int64>? = []
        /// Bytes of files beyond their records, by generation.
        var excess: [Int64: Int64] = [:]
        var lost: [CacheKey: Set<CacheKey>] = [:]
        var unopened: Set<CacheKey> = []
    }

    private let state = Mutex(State())

    /// Whether every byte is recorded or removed.
    var isSettled: Bool { state.withLock { $0.made == nil && $0.excess.isEmpty } }

    // MARK: - Orphans

    /// Generations made since the opening, whose files are not orphans although no record names them yet.
    var made: Set<Int64> { state.withLock { $0.made ?? [] } }

    func noteMade(_ generation: Int64) { state.withLock { _ = $0.made?.insert(generation) } }

    /// Notes that all orphans are removed.
    func endSearch() { state.withLock { $0.made = nil } }

    // MARK: - Excess

    /// Notes the bytes that a file occupies beyond its record.
    func note(excess bytes: Int64, of generation: Int64) { state.withLock { $0.excess[generation] = bytes } }

    func hasExcess(_ generation: Int64) -> Bool { state.withLock { $0.excess[generation] != nil } }

    func takeExcess(of generation: Int64) -> Int64? { state.withLock { $0.excess.removeValue(forKey: generation) } }

    // MARK: - Files

    /// Notes that the record of `key` is removed because its file is missing, and the titles that had it as a file.
    func noteLost(_ key: CacheKey, of titles: Set<CacheKey>) { state.withLock { $0.lost[key] = titles } }

    /// The keys of lost files that no verification has reported yet, with their titles.
    var lost: [CacheKey: Set<CacheKey>] { state.withLock { $0.lost } }

    func takeLost() -> [CacheKey: Set<CacheKey>] {
        state.withLock { state in
            defer { state.lost = [:] }
            return state.lost
        }
    }

    /// Notes that the record of `key` is kept although its file could not be opened.
    func noteUnopened(_ key: CacheKey) { state.withLock { _ = $0.unopened.insert(key) } }

    func takeUnopened(_ key: CacheKey) -> Bool { state.withLock { $0.unopened.remove(key) != nil } }
}
