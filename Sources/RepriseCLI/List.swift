import ArgumentParser
import Foundation
import HTTPSemantics
import Reprise

/// `reprise list`.
struct List: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List what is stored, the most recently used first.",
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
            let entries = try cache.inspector().entries()
            if json {
                for entry in entries { try Terminal.printJSON(EntryReport(entry)) }
                return
            }
            guard !entries.isEmpty else {
                print("Nothing is stored in \(cache.directory).")
                return
            }
            for entry in entries { print(Self.line(entry)) }
            let total = entries.reduce(0) { $0 + $1.storedBytes }
            print("\(entries.count) \(entries.count == 1 ? "entry" : "entries"), \(ByteCount(total))")
        }
    }

    private static func line(_ entry: CacheEntry) -> String {
        let size = "\(ByteCount(entry.storedBytes))".leftPadded(9)
        let share = entry.information.completeLength.map { length in
            length == 0 ? "100 %" : "\(entry.storedBytes * 100 / length) %"
        }
        let mark = entry.retention.mark.map { "  [\($0)]" } ?? ""
        return "\(size)  \((share ?? "? %").leftPadded(5))  \(entry.url)\(mark)"
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
    let completeLength: Int64?
    let complete: Bool
    let mediaType: String?
    let etag: String?
    let lastModified: String?
    let lastUsed: Double
    var spans: [[Int64]]?

    init(_ entry: CacheEntry, spans: [[Int64]]? = nil) {
        url = entry.url.description
        key = entry.key.text
        storedBytes = entry.storedBytes
        allocatedBytes = entry.allocatedBytes
        kept = entry.retention.mark
        completeLength = entry.information.completeLength
        complete = entry.isComplete
        mediaType = entry.information.mediaType
        etag = entry.information.validators.etag?.description
        lastModified = entry.information.validators.lastModified?.description
        lastUsed = entry.lastUsed
        self.spans = spans
    }
}

extension Retention {
    /// How `list` shows it; `nil` for what may be evicted.
    var mark: String? {
        switch self {
        case .cached: nil
        case .pinned: "pinned"
        case .download: "download"
        }
    }
}

extension String {
    /// The text with spaces before it, up to `width` characters.
    func leftPadded(_ width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
