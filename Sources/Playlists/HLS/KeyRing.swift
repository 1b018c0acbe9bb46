/// The keys of a list, and those of them that hold at once: one of each format (rfc8216bis §4.4.4.4).
struct KeyRing {
    private(set) var keys: [Key] = []
    /// Keys that hold together, as indices; the first set is empty.
    private(set) var sets: [[Int]] = [[]]
    private var current: [Int] = []
    /// Whether ``current`` is not yet the last of ``sets``.
    private var isChanged = false

    /// Adds a key.
    ///
    /// It replaces the one of its format; method `NONE` replaces all. Throws when so many formats are mixed that the
    /// sets would be longer than the list.
    mutating func add(_ key: Key, limits: PlaylistLimits) throws(PlaylistError) {
        keys.append(key)
        isChanged = true
        guard key.method != .none else {
            current = []
            return
        }
        current.removeAll { keys[$0].format == key.format }
        current.append(keys.count - 1)
        guard current.count <= limits.keyFormats else {
            throw PlaylistError(
                .tooManyKeys, "Keys of more than \(limits.keyFormats) formats hold at once.", at: key.line.lowerBound)
        }
    }

    /// Index of the set that holds now.
    mutating func currentSet() -> Int {
        guard isChanged else { return current.isEmpty ? 0 : sets.count - 1 }
        isChanged = false
        guard !current.isEmpty else { return 0 }
        sets.append(current)
        return sets.count - 1
    }
}
