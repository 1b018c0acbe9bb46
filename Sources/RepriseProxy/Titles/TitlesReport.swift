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
        /// The path of its picture, from the server's root; missing without one.
        var picture: String?
    }

    /// What is asked for.
    struct Query: Sendable {
        /// Where a page begins.
        enum Place {
            case index(TitlePage.Place)
            /// Number of titles before it, of a search and in an order that the index does not have.
            case position(Int)
        }

        let search: TitleSearch?
        let order: TitleOrder
        /// Whether only titles are wanted that play to their end without the origin.
        let isOffline: Bool
        /// Whether pictures are wanted; they are made on demand.
        let hasPictures: Bool
        let limit: Int
        /// `nil` for the first page.
        let place: Place?

        /// Names of the parameters that choose and order titles.
        static let filters = ["host", "kept", "search", "sort", "tag"]
        /// Names of all parameters.
        static let parameters = filters + ["after", "limit", "offline", "pictures"]
        /// Titles of one page if nothing is said.
        static let usualLimit = 50
        /// Bytes of the longest text that is searched for.
        private static let longestSearch = 256

        /// The parameters of `target`.
        init(_ target: ControlTarget, usualOrder: TitleOrder = .lastUsed) throws(ControlFailure) {
            let text = try target.value("search") ?? ""
            guard text.utf8.count <= Self.longestSearch else {
                throw ControlFailure(400, "\"search\" has at most \(Self.longestSearch) bytes.")
            }
            search = TitleSearch(
                text, host: try target.value("host"), tag: try target.value("tag"),
                isKept: try Self.flag("kept", of: target))
            isOffline = try Self.flag("offline", of: target)
            hasPictures = try Self.flag("pictures", of: target)
            let name = try target.value("sort") ?? usualOrder.rawValue
            guard let order = TitleOrder(rawValue: name) else {
                let names = TitleOrder.allCases.map(\.rawValue).joined(separator: ", ")
                throw ControlFailure(400, "\"sort\" is one of \(names).")
            }
            self.order = order
            let number = try target.value("limit").map { Int($0) ?? 0 } ?? Self.usualLimit
            guard (1...TitlePage.largest).contains(number) else {
                throw ControlFailure(400, "\"limit\" is a number from 1 to \(TitlePage.largest).")
            }
            limit = number
            guard let next = try target.value("after") else {
                place = nil
                return
            }
            if order == .lastUsed, search == nil {
                place = TitlePage.Place(next).map { .index($0) }
            } else {
                place = Int(next).flatMap { (1...TitleCatalog.mostTitles).contains($0) ? .position($0) : nil }
            }
            if place == nil { throw ControlFailure(400, "\"after\" is what an answer has as \"next\".") }
        }

        private static func flag(_ name: String, of target: ControlTarget) throws(ControlFailure) -> Bool {
            guard let text = try target.value(name) else { return false }
            guard text == "yes" else { throw ControlFailure(400, "\"\(name)\" is \"yes\", or left out.") }
            return true
        }
    }

    /// What the filters can choose from.
    struct Facets: Encodable, Sendable {
        let hosts, tags: [String]
    }

    let titles: [Item]
    /// Where the next page begins, as the parameter `after`; missing after the last title.
    let next: String?
    /// On the first page, once they are known.
    let facets: Facets?
    /// Number of titles that match, as far as they are known without their playlists; on the first page, once it is
    /// known.
    let count: Int?
    /// Whether pictures of these titles are being made.
    let makesPictures: Bool?

    /// The page that `query` asks for.
    ///
    /// With ``Query/isOffline`` it may have fewer titles than are wanted, or none, and go on all the same.
    init(_ query: Query, of service: ProxyService) async throws {
        let items: [TitlePage.Item]
        switch (query.order, query.search, query.place) {
        case (.lastUsed, nil, let place):
            let start: TitlePage.Place? = if case .index(let place) = place { place } else { nil }
            let page = try await service.cache.titlePage(after: start, limit: query.limit)
            (items, next) = (page.items, page.next?.text)
        case (_, _, let place):
            let start = if case .position(let count) = place { count } else { 0 }
            let titles = try await service.catalog.titles(query.search, in: query.order)
            items = try await service.cache.titleItems(titles.dropFirst(start).prefix(query.limit).map(\.key))
            next = titles.count > start + query.limit ? "\(start + query.limit)" : nil
        }
        let streams = try await service.streamShares.streams(items, at: service.configuration.clock.elapsed()) {
            try await service.cache.storedStreams($0)
        }
        let now = service.wallClock()
        let pictures = query.hasPictures ? service.pictures?.want(items.map(\.title)) : nil
        titles = items.map { item in
            var told = Item(item, stream: streams[item.title.key], at: now)
            if pictures?.made.contains(item.title.key) == true { told.picture = "-/picture?id=\(item.id)" }
            return told
        }.filter { !query.isOffline || $0.isComplete }
        makesPictures = pictures.flatMap { $0.isWaiting ? true : nil }
        let overview = query.place == nil ? await service.catalog.overview(query.search) : nil
        (facets, count) = (overview?.facets, overview?.count)
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
