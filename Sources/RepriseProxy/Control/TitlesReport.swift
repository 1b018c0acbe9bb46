import ByteRanges
import Foundation
import Reprise

/// A page of titles, as `titles.json` has it.
///
/// Bytes; times in seconds since 1970; URLs without their query.
struct TitlesReport: Encodable, Sendable {
    /// A file, or a stream with all its files.
    struct Item: Encodable, Sendable {
        /// Names it in other requests.
        let id: String
        let url: String
        /// Those that it was given.
        let name, tag: String?
        let isStream: Bool
        let files: Int
        let storedBytes: Int64
        /// The stored share, from 0 to 1; missing while unknown.
        ///
        /// For a stream, it is the share of the variant with the largest share.
        let storedShare: Double?
        /// Whether the title can be played to its end without the origin.
        let isComplete: Bool
        /// Of a file; missing while unknown.
        let completeLength: Int64?
        /// The stored parts of a file, at most ``StatusReport/mostSpans`` of them: first byte and end.
        let spans: [[Int64]]?
        let mediaType: String?
        let lastUsed: Double?
        let plays: Int
        /// `pinned`, `download` or `first`; missing for what may be evicted.
        let kept: String?
        let keptUntil: Double?
    }

    /// What is asked for.
    struct Query: Sendable {
        let search: TitleSearch?
        let limit: Int
        let place: TitlePage.Place?

        /// Names of the parameters.
        static let parameters = ["after", "limit", "search"]
        /// Titles of one page if nothing is said.
        static let usualLimit = 50
        /// Bytes of the longest text that is searched for.
        private static let longestSearch = 256

        /// The parameters of `target`.
        init(_ target: ControlTarget) throws(ControlFailure) {
            let text = try target.value("search") ?? ""
            guard text.utf8.count <= Self.longestSearch else {
                throw ControlFailure(400, "\"search\" has at most \(Self.longestSearch) bytes.")
            }
            search = TitleSearch(text)
            let number = try target.value("limit").map { Int($0) ?? 0 } ?? Self.usualLimit
            guard (1...TitlePage.largest).contains(number) else {
                throw ControlFailure(400, "\"limit\" is a number from 1 to \(TitlePage.largest).")
            }
            limit = number
            let next = try target.value("after")
            place = next.flatMap { TitlePage.Place($0) }
            if next != nil, place == nil { throw ControlFailure(400, "\"after\" is what an answer has as \"next\".") }
        }

        /// The first page.
        init(limit: Int) { (search, self.limit, place) = (nil, limit, nil) }
    }

    let titles: [Item]
    /// Where the next page begins, as the parameter `after`; missing after the last title.
    let next: String?

    /// The page that `query` asks for.
    init(_ query: Query, of service: ProxyService) async throws {
        let page = try await service.cache.titlePage(after: query.place, limit: query.limit, matching: query.search)
        let now = service.wallClock()
        let streams = try await service.streamShares.streams(page.items) { try await service.cache.storedStreams($0) }
        titles = page.items.map { Item($0, stream: streams[$0.title.key], at: now) }
        next = page.next?.text
    }
}

extension TitlesReport.Item {
    init(_ item: TitlePage.Item, stream: StoredStream?, at now: Double) {
        let title = item.title
        // A title is not marked as a stream if only its playlist is stored.
        let isStream = title.isStream || stream != nil
        let length = isStream ? nil : item.information?.completeLength
        let stored = isStream ? nil : item.stored
        (id, url, name, tag) = (item.id, title.url.redacted, title.name, title.tag)
        (self.isStream, storedBytes) = (isStream, title.storedBytes)
        files = stream?.fileCount ?? title.fileCount
        let share = length.flatMap { length in
            stored.map { length > 0 ? Double($0.byteCount) / Double(length) : 1 }
        }
        storedShare = stream?.share ?? share
        isComplete = stream?.isComplete ?? (share == 1)
        completeLength = length
        spans = stored?.shownSpans(atMost: StatusReport.mostSpans)
        mediaType = item.information?.mediaType
        (lastUsed, plays) = (title.lastUsed?.timeIntervalSince1970, title.plays)
        switch title.retention {
        case .cached: (kept, keptUntil) = (nil, nil)
        // Its time is over, and it was not released yet.
        case .pinned(let until?) where until.timeIntervalSince1970 <= now: (kept, keptUntil) = (nil, nil)
        case .pinned(let until): (kept, keptUntil) = ("pinned", until?.timeIntervalSince1970)
        case .download: (kept, keptUntil) = ("download", nil)
        case .first: (kept, keptUntil) = ("first", nil)
        }
    }
}
