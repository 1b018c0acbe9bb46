import ArgumentParser
import Foundation
import HTTPSemantics
import Reprise

/// `reprise list`.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the stored files, the most recently used first.",
        discussion: """
            Also works while the proxy runs.

            Examples:
              reprise list
              reprise list --json | jq -r 'select(.complete) | .url'
            """)

    @OptionGroup var cache: CacheOptions
    @Flag(help: "One JSON object per line.")
    var json = false

    func run() async throws {
        try await Failure.reporting {
            let inspector = try cache.inspector()
            let (entries, awaited) = (
                try inspector.entries(), try inspector.awaitedEntries().filter { $0.retention.isCurrent }
            )
            if json {
                for entry in entries { try Terminal.printJSON(EntryReport(entry)) }
                for entry in awaited { try Terminal.printJSON(EntryReport(entry)) }
                return
            }
            guard !entries.isEmpty || !awaited.isEmpty else {
                try Terminal.print("Nothing is stored in \(cache.directory).")
                return
            }
            for entry in entries { try Terminal.print(Self.line(entry)) }
            for entry in awaited { try Terminal.print(Self.line(stored: 0, share: nil, entry.url, entry.retention)) }
            let total = entries.reduce(0) { $0 + $1.storedBytes }
            let rest = awaited.isEmpty ? "" : "; of \(awaited.count) more nothing is stored yet"
            try Terminal.print(
                "\(entries.count) \(entries.count == 1 ? "entry" : "entries"), \(ByteCount(total))\(rest)")
        }
    }

    private static func line(_ entry: CacheEntry) -> String {
        let share = entry.information.completeLength.map { length in
            length == 0 ? "100 %" : "\(entry.storedBytes * 100 / length) %"
        }
        return line(stored: entry.storedBytes, share: share, entry.url, entry.retention)
    }

    private static func line(stored: Int64, share: String?, _ url: ResourceURL, _ retention: Retention) -> String {
        let size = "\(ByteCount(stored))".leftPadded(9)
        let mark = retention.mark.map { "  [\($0)]" } ?? ""
        return "\(size)  \((share ?? "? %").leftPadded(5))  \(url)\(mark)"
    }
}

/// One entry in JSON.
///
/// Sizes in bytes, times in seconds since 1970.
struct EntryReport: Encodable {
    let url: String
    let key: String
    let storedBytes: Int64
    let allocatedBytes: Int64
    let kept: String?
    let keptUntil: Double?
    let completeLength: Int64?
    let complete: Bool
    let mediaType: String?
    let etag: String?
    let lastModified: String?
    let lastUsed: Double?
    var spans: [[Int64]]?

    init(_ entry: CacheEntry, spans: [[Int64]]? = nil) {
        url = entry.url.description
        key = entry.key.text
        storedBytes = entry.storedBytes
        allocatedBytes = entry.allocatedBytes
        (kept, keptUntil) = (entry.retention.word, entry.retention.end)
        completeLength = entry.information.completeLength
        complete = entry.isComplete
        mediaType = entry.information.mediaType
        etag = entry.information.validators.etag?.description
        lastModified = entry.information.validators.lastModified?.description
        lastUsed = entry.lastUsed
        self.spans = spans
    }

    /// A pin or a download of which nothing is stored.
    init(_ entry: CacheInspector.AwaitedEntry) {
        url = entry.url.description
        key = entry.key.text
        (kept, keptUntil) = (entry.retention.word, entry.retention.end)
        (storedBytes, allocatedBytes, complete) = (0, 0, false)
        (completeLength, mediaType, etag, lastModified, lastUsed) = (nil, nil, nil, nil, nil)
    }
}

extension Retention {
    /// How `list` shows it; `nil` for what may be evicted.
    var mark: String? { word.map { word in word + (end.map { " until \(TimeSpan.date($0))" } ?? "") } }

    /// Its name in JSON; `nil` for what may be evicted.
    var word: String? {
        switch self {
        case .cached: nil
        case .pinned: isCurrent ? "pinned" : nil
        case .download: "download"
        }
    }

    /// When it ends, in seconds since 1970; `nil` if it does not end by itself.
    var end: Double? { if case .pinned(let until) = self, isCurrent { until } else { nil } }

    /// Whether its time is not over.
    var isCurrent: Bool {
        if case .pinned(let until?) = self { until > Date().timeIntervalSince1970 } else { true }
    }
}

extension String {
    /// The text with spaces before it, up to `width` characters.
    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
