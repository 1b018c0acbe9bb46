/// The files that a template of an MPD stands for: everything between its first and its last dollar sign may vary.
struct ListedPattern: Sendable, Hashable {
    let prefix: String
    let suffix: String
    /// The run of the stream that the files belong to; see ``StreamRole/run``.
    let run: Int64?

    /// `nil` for a template whose host may vary, or in which nothing does.
    init?(_ template: String, run: Int64? = nil) {
        guard let first = template.firstIndex(of: "$"), let last = template.lastIndex(of: "$"),
            template[..<first].split(separator: "/", maxSplits: 3, omittingEmptySubsequences: false).count == 4
        else { return nil }
        prefix = String(template[..<first])
        suffix = String(template[last...].dropFirst())
        self.run = run
    }

    func matches(_ url: String) -> Bool {
        url.utf8.count >= prefix.utf8.count + suffix.utf8.count && url.hasPrefix(prefix) && url.hasSuffix(suffix)
    }
}

/// Patterns by the hashes of their prefixes.
///
/// A URL is compared only with the patterns whose prefix it has, in one pass over the lengths of prefixes.
struct ListedPatterns: Sendable {
    /// Patterns with one prefix.
    private struct Bucket {
        var patterns: [(suffix: String, owners: ListingNumbers)] = []
    }

    /// Maximum number of suffixes of one prefix; beyond it the oldest goes.
    private static let mostSuffixes = 16
    /// Number of owners of a file at which the lookup ends.
    private static let mostOwners = 32

    private var buckets: [Int: Bucket] = [:]
    /// The lengths of the prefixes in UTF-8, ascending, and the number of buckets that have them.
    private var lengths: [(length: Int, count: Int)] = []

    /// Adds a pattern of the newest list.
    mutating func add(_ pattern: ListedPattern, _ number: Int) {
        let hash = Self.hash(pattern.prefix)
        if buckets[hash] == nil { count(pattern.prefix.utf8.count, 1) }
        var patterns = buckets[hash]?.patterns ?? []
        if let index = patterns.firstIndex(where: { $0.suffix == pattern.suffix }) {
            patterns[index].owners.add(number, .file)
        } else {
            if patterns.count == Self.mostSuffixes { patterns.removeFirst() }
            var owners = ListingNumbers()
            owners.add(number, .file)
            patterns.append((pattern.suffix, owners))
        }
        buckets[hash] = Bucket(patterns: patterns)
    }

    /// Forgets a pattern of a list.
    mutating func remove(_ pattern: ListedPattern, _ number: Int) {
        let hash = Self.hash(pattern.prefix)
        guard var patterns = buckets[hash]?.patterns,
            let index = patterns.firstIndex(where: { $0.suffix == pattern.suffix })
        else { return }
        if patterns[index].owners.remove(number) { patterns.remove(at: index) }
        buckets[hash] = patterns.isEmpty ? nil : Bucket(patterns: patterns)
        if patterns.isEmpty { count(pattern.prefix.utf8.count, -1) }
    }

    /// The lists with patterns that stand for the file at `url`; of many lists, those with the longest prefixes.
    ///
    /// Adds the number of comparisons to `steps`.
    func owners(of url: String, steps: inout Int) -> [ListingNumbers.Owner] {
        guard !buckets.isEmpty else { return [] }
        var url = url
        return url.withUTF8 { bytes in
            var found: [(length: Int, bucket: Bucket)] = []
            var hasher = Hasher()
            var start = 0
            for (length, _) in lengths {
                guard length <= bytes.count else { break }
                hasher.combine(bytes: UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(bytes)[start..<length]))
                start = length
                steps += 1
                let prefix = hasher
                if let bucket = buckets[prefix.finalize()] { found.append((length, bucket)) }
            }
            var owners: [ListingNumbers.Owner] = []
            for (length, bucket) in found.reversed() {
                for pattern in bucket.patterns.reversed() {
                    guard owners.count < Self.mostOwners else { return owners }
                    steps += 1
                    if bytes[length...].reversed().starts(with: pattern.suffix.utf8.reversed()) {
                        owners += pattern.owners.all
                    }
                }
            }
            return owners
        }
    }

    private static func hash(_ prefix: String) -> Int {
        var prefix = prefix
        var hasher = Hasher()
        prefix.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        return hasher.finalize()
    }

    private mutating func count(_ length: Int, _ change: Int) {
        let index = lengths.firstIndex { $0.length >= length } ?? lengths.count
        if index == lengths.count || lengths[index].length != length { lengths.insert((length, 0), at: index) }
        lengths[index].count += change
        if lengths[index].count == 0 { lengths.remove(at: index) }
    }
}
