import Primitives

/// The room that downloads under way still need: bytes of their files that have not been stored yet.
///
/// These count as taken when the next download is checked. Without that, many would begin of which each one fits by
/// itself, and most of what they bring would find no room. A file whose length is not known counts with its stored
/// bytes only, as everything that is stored.
///
/// The lock is held while a download is checked; the engine's and the index's are taken after it.
final class PromisedRoom: Sendable {
    /// A file that is being downloaded, and for which room is promised once its length is known.
    struct Promise: Sendable {
        fileprivate let number: UInt64
    }

    /// What the files of others are to get, in bytes.
    struct Others: Equatable {
        var bytes: Int64 = 0
        /// The same of files of the same title.
        var bytesOfTitle: Int64 = 0
        /// The same of titles that have a tag with a limit, by the names of the tags.
        var bytesOfTags: [String: Int64] = [:]
    }

    /// A file of a title that has these tags.
    struct File {
        let entry: CacheKey
        let title: CacheKey
        let tags: Set<String>
        /// How many of its bytes are not stored yet.
        let missing: @Sendable () -> Int64
    }

    private struct State {
        var files: [UInt64: File] = [:]
        var lastNumber: UInt64 = 0

        /// What other files than `entry` of `title` are to get; one that belongs to two titles counts once.
        func others(than entry: CacheKey?, in title: CacheKey?) -> Others {
            var others = Others()
            var counted: Set<CacheKey> = []
            var countedTags: [CacheKey: Set<String>] = [:]
            for file in files.values where file.entry != entry {
                let isCounted = !counted.insert(file.entry).inserted
                let tags = file.tags.subtracting(countedTags[file.entry, default: []])
                guard !isCounted || !tags.isEmpty else { continue }
                let missing = max(0, file.missing())
                if !isCounted { others.bytes += missing }
                if !isCounted, file.title == title { others.bytesOfTitle += missing }
                for tag in tags { others.bytesOfTags[tag, default: 0] += missing }
                countedTags[file.entry, default: []].formUnion(tags)
            }
            return others
        }
    }

    private let state = Mutex(State())

    /// A file begins to be downloaded; nothing is promised to it yet.
    func begin() -> Promise {
        state.withLock { state in
            state.lastNumber += 1
            return Promise(number: state.lastNumber)
        }
    }

    /// What is missing of `file` counts as taken until ``end(_:)``, unless `check` throws, which is called with what
    /// other files are to get.
    func take(_ promise: Promise, for file: File, check: (Others) throws -> Void) throws {
        // In one step: of two files that do not fit together, the second one must see the first.
        try state.withLock { state in
            try check(state.others(than: file.entry, in: file.title))
            state.files[promise.number] = file
        }
    }

    /// What other files than `entry` of `title` are to get.
    func others(than entry: CacheKey, in title: CacheKey) -> Others {
        state.withLock { $0.others(than: entry, in: title) }
    }

    /// What all files are to get, in bytes.
    var bytes: Int64 { state.withLock { $0.others(than: nil, in: nil).bytes } }

    /// A file is not being downloaded any more.
    func end(_ promise: Promise) { state.withLock { $0.files[promise.number] = nil } }
}
