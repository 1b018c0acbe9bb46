import ArgumentParser
import Foundation
import HTTPSemantics
import Reprise
import RepriseProxy
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
              reprise list --sort size
              reprise list --files
              reprise list --m3u > films.m3u
              reprise list --tag films --strm ~/Videos/films
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
    @Option(help: "Order: recent (the most recently used first), name, size or plays.")
    var sort = Order.recent
    @Flag(help: "A playlist (M3U) with which players play the titles through the server.")
    var m3u = false
    @Option(
        help: ArgumentHelp(
            "Write a .strm file for each title into this folder, for Kodi.",
            discussion: "Files that an earlier run wrote are removed if their titles are not listed.",
            valueName: "folder"))
    var strm: String?
    @Option(help: Setting.token.help("Token of the server, for --m3u and --strm."))
    var token: String?
    @Option(
        help: ArgumentHelp(
            "How players of other machines reach the server, such as http://192.168.1.5:8090, for --m3u and --strm.",
            valueName: "url"))
    var address: String?
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if files, tag != nil { throw ValidationError("A title has a tag, not a file: leave --files or --tag out.") }
        if tag == "" { throw ValidationError("--tag is empty.") }
        let forms = [json, m3u, strm != nil].count { $0 }
        if forms > 1 { throw ValidationError("Take one of --json, --m3u and --strm.") }
        if files, m3u || strm != nil { throw ValidationError("--m3u and --strm have titles: leave --files out.") }
        if strm == "" { throw ValidationError("--strm is empty; name a folder.") }
        if token != nil, !m3u, strm == nil { throw ValidationError("--token goes with --m3u or --strm.") }
        if address != nil, !m3u, strm == nil { throw ValidationError("--address goes with --m3u or --strm.") }
        if let address, (try? ResourceURL(address)) == nil {
            throw ValidationError("--address takes the server's address, such as http://192.168.1.5:8090.")
        }
        try Setting.token.check(option: token)
    }

    /// The order of the lines.
    enum Order: String, ExpressibleByArgument, CaseIterable { case recent, name, size, plays }

    func run() async throws {
        try await Failure.reporting {
            let inspector = try await cache.inspector()
            let lines = sorted(try files ? fileLines(inspector) : titleLines(inspector))
            if m3u || strm != nil { return try await writeAddresses(of: lines) }
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
        let url: ResourceURL
        let report: EntryReport
        let text: String
        var isStored = true

        /// The title's name, or one from its URL.
        var name: String { report.name ?? URLText.name(of: report.url) }
    }

    /// `lines`, which are in the order of their last use, in the chosen order.
    private func sorted(_ lines: [Line]) -> [Line] {
        switch sort {
        case .recent: lines
        case .name: lines.sorted { $0.name.lowercased() < $1.name.lowercased() }
        case .size: lines.sorted { $0.report.storedBytes > $1.report.storedBytes }
        case .plays: lines.sorted { $0.report.plays > $1.report.plays }
        }
    }

    /// Prints the titles of `lines` as a playlist, or writes a file for each.
    private func writeAddresses(of lines: [Line]) async throws {
        let address = try await PlayerAddress(address, token: token, of: cache)
        guard let strm else {
            let playlist = TitlesPlaylist.text(lines.map { ($0.name, address($0.url)) })
            return try Terminal.print(String(playlist.dropLast()))
        }
        let removed = try TitleFolder(strm, address: address).write(lines.map { ($0.name, $0.url) })
        let written = "\(lines.count) \(lines.count == 1 ? "file" : "files") in \(strm.printable)"
        try Terminal.print(removed == 0 ? written : "\(written), \(removed) of other titles removed")
    }

    private func fileLines(_ inspector: CacheInspector) throws -> [Line] {
        let stored = try inspector.entries().filter { !complete || $0.isComplete }.map { entry in
            Line(
                url: entry.url, report: EntryReport(entry),
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
            return (
                title.key, Line(url: title.url, report: EntryReport(stored), text: text, isStored: stored.fileCount > 0)
            )
        }
        return try stored.map(\.line) + awaitedLines(inspector, besides: Set(stored.map(\.key)))
    }

    /// Pins and downloads of which nothing is stored yet.
    private func awaitedLines(_ inspector: CacheInspector, besides known: Set<CacheKey>) throws -> [Line] {
        guard !isNarrowed else { return [] }
        let awaited = try inspector.awaitedEntries().filter { $0.retention.isCurrent && !known.contains($0.key) }
        return awaited.map { entry in
            Line(
                url: entry.url, report: EntryReport(entry),
                text: Self.line(0, share: nil, url: entry.url, retention: entry.retention),
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
