import ArgumentParser
import Foundation
import HTTPSemantics
import Reprise
import RepriseStreams

/// `reprise list`.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List titles, the most recently used first.",
        discussion: """
            Also works while the proxy runs. A line is a title: a file, or a stream of HLS or DASH with all its files. \
            With --files each file has a line of its own.

            Examples:
              reprise list
              reprise list --complete --tag films
              reprise list --files
              reprise list --json | jq -r 'select(.complete) | .url'
            """, aliases: ["ls"])

    @Flag(help: "One JSON object per line.")
    var json = false
    @Flag(help: "Each file of a stream on a line of its own.")
    var files = false
    @Flag(help: "Only what is wholly stored, and plays without the origin.")
    var complete = false
    @Option(help: "Only titles with this tag.")
    var tag: String?
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if files, tag != nil { throw ValidationError("A title has a tag, not a file: leave --files or --tag out.") }
        if tag == "" { throw ValidationError("--tag is empty.") }
    }

    func run() async throws {
        try await Failure.reporting {
            let inspector = try await cache.inspector()
            let lines = try files ? fileLines(inspector) : titleLines(inspector)
            if json {
                for line in lines { try Terminal.printJSON(line.report) }
                return
            }
            guard !lines.isEmpty else {
                try Terminal.print(
                    isNarrowed ? "Nothing of the kind is stored." : "Nothing is stored in \(try cache.directory).")
                return
            }
            for line in lines { try Terminal.print(line.text) }
            let stored = lines.filter(\.isStored)
            // Files that belong to several titles count once.
            let bytes =
                try isNarrowed ? stored.reduce(0) { $0 + $1.report.storedBytes } : inspector.totals().storedBytes
            let rest = lines.count - stored.count
            let awaited = rest == 0 ? "" : "; of \(rest) more nothing is stored yet"
            let word = files ? (stored.count == 1 ? "file" : "files") : (stored.count == 1 ? "title" : "titles")
            try Terminal.print("\(stored.count) \(word), \(ByteCount(bytes))\(awaited)")
        }
    }

    /// Whether only some titles or files are listed.
    private var isNarrowed: Bool { complete || tag != nil }

    private struct Line {
        let report: EntryReport
        let text: String
        var isStored = true
    }

    private func fileLines(_ inspector: CacheInspector) throws -> [Line] {
        let stored = try inspector.entries().filter { !complete || $0.isComplete }.map { entry in
            Line(
                report: EntryReport(entry),
                text: Self.line(
                    entry.storedBytes,
                    share: entry.information.completeLength.map {
                        $0 == 0 ? 1 : Double(entry.storedBytes) / Double($0)
                    },
                    url: entry.url, retention: entry.retention))
        }
        return try stored + awaitedLines(inspector, besides: [])
    }

    private func titleLines(_ inspector: CacheInspector) throws -> [Line] {
        let policy = try names.names(cache).policy
        let stored = try StoredTitle.compactMap(inspector, policy: policy) { stored -> (key: CacheKey, line: Line)? in
            guard tag == nil || stored.title.tag == tag, !complete || stored.isComplete else { return nil }
            let title = stored.title
            var text = Self.line(stored.storedBytes, share: stored.share, url: title.url, retention: title.retention)
            if let name = title.name { text += "  \(name.printable)" }
            if let tag = title.tag { text += "  #\(tag.printable)" }
            if title.isStream || stored.outline != nil {
                let format = stored.outline.map { "\($0.formatName) " } ?? ""
                let keys = stored.outline?.lacksKeys == true ? ", keys not stored" : ""
                let obstacle = stored.outline?.obstacle == nil ? "" : ", too large a playlist to read"
                let count = "\(stored.fileCount) \(stored.fileCount == 1 ? "file" : "files")"
                text += "  (\(format)stream, \(count)\(keys)\(obstacle))"
            }
            return (title.key, Line(report: EntryReport(stored), text: text, isStored: stored.fileCount > 0))
        }
        return try stored.map(\.line) + awaitedLines(inspector, besides: Set(stored.map(\.key)))
    }

    /// Pins and downloads of which nothing is stored yet.
    private func awaitedLines(_ inspector: CacheInspector, besides known: Set<CacheKey>) throws -> [Line] {
        guard !isNarrowed else { return [] }
        let awaited = try inspector.awaitedEntries().filter { $0.retention.isCurrent && !known.contains($0.key) }
        return awaited.map { entry in
            Line(
                report: EntryReport(entry), text: Self.line(0, share: nil, url: entry.url, retention: entry.retention),
                isStored: false)
        }
    }

    /// `share` of 1 in percent, rounded down, so that only the whole is 100 %.
    static func percent(_ share: Double) -> String { "\(Int((share * 100).rounded(.down))) %" }

    private static func line(_ stored: Int64, share: Double?, url: ResourceURL, retention: Retention) -> String {
        let size = "\(ByteCount(stored))".leftPadded(9)
        let percent = share.map { Self.percent($0) } ?? "? %"
        let mark = retention.mark.map { "  [\($0)]" } ?? ""
        return "\(size)  \(percent.leftPadded(5))  \(url)\(mark)"
    }
}

/// One file or title in JSON.
///
/// Sizes in bytes, times in seconds since 1970.
struct EntryReport: Encodable {
    let url: String
    let key: String
    let storedBytes: Int64
    let allocatedBytes: Int64
    let kept: String?
    let keptUntil: Double?
    /// How much of the beginning is kept.
    let keptFirst: String?
    let completeLength: Int64?
    /// Whether it plays to its end without the origin.
    var complete: Bool
    let mediaType: String?
    let etag: String?
    let lastModified: String?
    let lastUsed: Double?
    let plays: Int
    /// Of a title: its name, its tag, the number of its files, the format of its playlists, and the bytes on disk that
    /// removing it frees.
    var name: String?
    var tag: String?
    var files: Int?
    var format: String?
    var ownBytes: Int64?
    var spans: [[Int64]]?
    /// The host that sent it, if that is known to give each request another file.
    var splicingHost: String?
    /// Problems that the running server has noticed with the file's host.
    var remarks: [String]?
    /// What it is the playlist of.
    var stream: StreamReport?
    /// Why its playlist was not read to its end, so that nothing is known of its share.
    var problem: String?

    init(_ entry: CacheEntry, spans: [[Int64]]? = nil) {
        url = entry.url.description
        key = entry.key.text
        storedBytes = entry.storedBytes
        allocatedBytes = entry.allocatedBytes
        (kept, keptUntil) = (entry.retention.word, entry.retention.end?.timeIntervalSince1970)
        keptFirst = entry.retention.beginning
        completeLength = entry.information.completeLength
        complete = entry.isComplete
        mediaType = entry.information.mediaType
        etag = entry.information.validators.etag?.description
        lastModified = entry.information.validators.lastModified?.description
        lastUsed = entry.lastUsed.timeIntervalSince1970
        plays = entry.plays
        self.spans = spans
    }

    init(_ stored: StoredTitle) {
        let (title, entry) = (stored.title, stored.entry)
        url = title.url.description
        key = title.key.text
        storedBytes = stored.storedBytes
        allocatedBytes = title.allocatedBytes
        (kept, keptUntil) = (title.retention.word, title.retention.end?.timeIntervalSince1970)
        keptFirst = title.retention.beginning
        let isFile = !title.isStream && stored.outline == nil
        completeLength = isFile ? entry?.information.completeLength : nil
        complete = stored.isComplete
        mediaType = entry?.information.mediaType
        etag = isFile ? entry?.information.validators.etag?.description : nil
        lastModified = isFile ? entry?.information.validators.lastModified?.description : nil
        lastUsed = title.lastUsed?.timeIntervalSince1970
        plays = title.plays
        (name, tag, ownBytes) = (title.name, title.tag, title.ownBytes)
        (files, format) = (stored.fileCount, stored.outline?.formatName)
        problem = stored.outline?.obstacle
    }

    /// A pin or a download of which nothing is stored.
    init(_ entry: CacheInspector.AwaitedEntry) {
        url = entry.url.description
        key = entry.key.text
        (kept, keptUntil) = (entry.retention.word, entry.retention.end?.timeIntervalSince1970)
        keptFirst = entry.retention.beginning
        (storedBytes, allocatedBytes, complete, plays) = (0, 0, false, 0)
        (completeLength, mediaType, etag, lastModified, lastUsed) = (nil, nil, nil, nil, nil)
    }
}

extension Retention {
    /// How `list` shows it; `nil` for what may be evicted.
    var mark: String? {
        word.map { word in
            word + (beginning.map { " \($0) kept" } ?? "") + (end.map { " until \(TimeSpan.date($0))" } ?? "")
        }
    }

    /// Its name in JSON; `nil` for what may be evicted.
    var word: String? {
        switch self {
        case .cached: nil
        case .pinned: isCurrent ? "pinned" : nil
        case .download: "download"
        case .first: "first"
        }
    }

    /// How much of the beginning is kept, as `--first` takes it; `nil` for other retentions.
    var beginning: String? { if case .first(let amount) = self { amount.text } else { nil } }

    /// When it ends; `nil` if it does not end by itself.
    var end: Date? { if case .pinned(let until) = self, isCurrent { until } else { nil } }

    /// Whether its time is not over.
    var isCurrent: Bool {
        if case .pinned(let until?) = self { until > Date() } else { true }
    }
}

extension String {
    /// The text with spaces before it, up to `width` characters.
    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
