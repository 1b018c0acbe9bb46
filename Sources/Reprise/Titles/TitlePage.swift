package import ByteRanges
import Primitives

/// Some titles in their order, the most recently used first, and where the next ones begin.
package struct TitlePage: Sendable {
    /// A title, and what the index has of its first file.
    package struct Item: Sendable {
        /// Names it in requests: the name of its key in the index, which tells nothing about its URL.
        package let id: String
        /// The title.
        package let title: Title
        /// The metadata of its first file; `nil` if that is not stored.
        package let information: ContentInformation?
        /// The stored ranges of its file; `nil` for a stream.
        package let stored: ByteRangeSet?
    }

    /// A place in the order of titles.
    ///
    /// It stays right while titles are used: one that was used since then stands further ahead.
    package struct Place: Sendable, Equatable {
        /// Last use of the file that was looked at last, in seconds since 1970.
        let lastUsed: Double
        /// The name of its key.
        let name: String

        /// Whether a file stands before this place, or at it.
        func isPassed(by lastUsed: Double, _ name: String) -> Bool {
            (lastUsed, name) >= (self.lastUsed, self.name)
        }
    }

    /// The titles.
    package let items: [Item]
    /// Where to go on; `nil` after the last title.
    package let next: Place?

    /// Most titles of one page.
    package static let largest = 200
}

extension TitlePage.Place {
    /// As text for requests.
    package var text: String { String(lastUsed.bitPattern, radix: 16) + "-" + name }

    /// `nil` if `text` is not such a text.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let bits = UInt64(parts[0], radix: 16), TitleStore.isName(parts[1]) else { return nil }
        (lastUsed, name) = (Double(bitPattern: bits), String(parts[1]))
        guard lastUsed.isFinite else { return nil }
    }
}

extension MediaCache {
    /// Up to `limit` titles of which something is stored, the most recently used first, from `place` on.
    ///
    /// Its time grows with the page, not with the cache. Waits for the disk. Throws ``RepriseError`` with code
    /// `storageUnavailable`, and `CancellationError` soon after the task is canceled.
    package func titlePage(after place: TitlePage.Place? = nil, limit: Int) async throws -> TitlePage {
        guard let store = engine.store else { return TitlePage(items: [], next: nil) }
        await store.recorder.flush()
        let page = try await DiskQueue.shared.runCancelable {
            try store.index.titles.page(after: place, limit: min(max(1, limit), TitlePage.largest))
        }
        try Task.checkCancellation()
        return page
    }

    /// The titles that begin with `keys`, in that order; unknown ones are left out.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    package func titleItems(_ keys: [CacheKey]) async throws -> [TitlePage.Item] {
        guard let store = engine.store, !keys.isEmpty else { return [] }
        return try await store.index.look { try $0.titles.items(keys) }
    }

    /// The stored files of the title that begins with `key`, at most `limit` of them, the most recently used first.
    ///
    /// Waits for the disk and for other reads of the whole index. Throws ``RepriseError`` with code
    /// `storageUnavailable`, or `CancellationError`.
    package func files(ofTitle key: CacheKey, atMost limit: Int) async throws -> [CacheEntry] {
        guard let store = engine.store else { return [] }
        return try await DiskQueue.playlists.runCancelable { try store.index.titles.files(of: key, atMost: limit) }
    }

    /// Number of titles.
    ///
    /// Waits for the disk and for other reads of the whole index. Throws ``RepriseError`` with code
    /// `storageUnavailable`, or `CancellationError`.
    package func titleCount() async throws -> Int {
        guard let store = engine.store else { return 0 }
        return try await store.index.scan { try $0.titles.count() }
    }

    /// The first file of the title, file, pin or download with that ``TitlePage/Item/id``; `nil` if there is none.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    package func reference(id: String) async throws -> TitleReference? {
        guard let store = engine.store, TitleStore.isName(id) else { return nil }
        await store.recorder.flush()
        return try await store.index.look { try $0.titles.reference(named: id) }
    }

    /// The ``TitlePage/Item/id`` of `key`.
    package func id(of key: CacheKey) -> String { engine.store?.index.name(of: key) ?? key.hash }
}
