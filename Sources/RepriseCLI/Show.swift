import ArgumentParser
import ByteRanges
import Foundation
import HTTPSemantics
import Reprise
import RepriseStreams

/// `reprise show`.
struct Show: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show which bytes of a URL are stored.",
        discussion: """
            Also works while the proxy runs. In the picture each cell is a share of the file: █ stored, ▓ ▒ ░ partly \
            stored, · missing. For a stream of HLS or DASH there is a picture of each variant, in time.

            Examples:
              reprise show https://example.com/film.mp4
              reprise show https://example.com/film.mp4 --json
              reprise show https://example.com/show/master.m3u8
            """, aliases: ["info"])

    @Argument(help: "URL, or cache key, of the entry.")
    var url: String
    @Flag(help: "JSON, with the stored spans as [first, end) pairs.")
    var json = false
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    /// Spans listed before the rest is only counted.
    private static let listedSpans = 16

    func run() async throws {
        try await Failure.reporting {
            let url = try await cache.behindOwn(url)
            let inspector = try await cache.inspector()
            let names = try names.names(cache)
            let entry: CacheEntry
            do {
                entry = try names.entry(url, in: inspector)
            } catch let error as RepriseError where error.code == .notStored {
                guard let rest = try names.rest(url, in: inspector) else {
                    let remarks = await remarks(about: url)
                    guard !remarks.isEmpty else { throw error }
                    throw RepriseError(.notStored, (remarks + [error.message]).joined(separator: " "))
                }
                return try show(rest)
            }
            let stored = try inspector.storedRanges(of: entry)
            let files = try StoredFiles(inspector, policy: names.policy, title: entry.key)
            let stream = StreamOutline(entry, in: files)
            let remarks = await remarks(about: "\(entry.url)")
            defer { for remark in remarks where !json { try? Terminal.print("Host: \(remark)") } }
            if json {
                var report = EntryReport(entry, spans: stored.map { [$0.lowerBound, $0.upperBound] })
                report.stream = stream.map { StreamReport($0) }
                report.problem = stream?.obstacle ?? WebPage.objection(to: entry.information, at: entry.url)?.message
                report.remarks = remarks.isEmpty ? nil : remarks
                report.complete = stream?.isComplete ?? entry.isComplete
                report.splicingHost = try inspector.splicingHost(of: entry)?.host
                return try Terminal.printJSON(report)
            }
            if let stream, let obstacle = stream.obstacle {
                try Terminal.print("\(entry.url)")
                try Terminal.print(
                    "\(stream.formatName) stream; its playlist was not read to its end. \(obstacle)")
                return try showUnnamed(of: inspector.title(of: entry.key), besides: stream)
            }
            if let stream {
                try StreamPicture(stream).print()
                return try showUnnamed(of: inspector.title(of: entry.key), besides: stream)
            }
            try Terminal.print("\(entry.url)")
            let length = entry.information.completeLength
            let share = length.map { $0 > 0 ? ", \(entry.storedBytes * 100 / $0) %" : "" } ?? ""
            try Terminal.print(
                "\(ByteCount(entry.storedBytes)) of \(length.map { "\(ByteCount($0))" } ?? "unknown length")\(share)")
            try Terminal.print(
                "[" + Bar.coverage(stored, length: length ?? stored.bounds?.upperBound ?? 0, width: Terminal.width - 2)
                    + "]")
            for span in stored.prefix(Self.listedSpans) {
                let size = ByteCount(span.upperBound - span.lowerBound)
                try Terminal.print("  \(span.lowerBound)-\(span.upperBound - 1)  (\(size))")
            }
            if stored.spanCount > Self.listedSpans {
                try Terminal.print("  and \(stored.spanCount - Self.listedSpans) more spans")
            }
            try describe(entry.information)
            if let page = WebPage.objection(to: entry.information, at: entry.url) { try Terminal.print(page.message) }
            if let (host, date) = try inspector.splicingHost(of: entry) {
                try Terminal.print("Spliced: \(host) gives each request another file; seen \(TimeSpan.date(date))")
            }
        }
    }

    /// Problems that the running server has noticed with the host of `url`; empty if no server uses the cache.
    private func remarks(about url: String) async -> [String] {
        // Ignore errors, so that the rest of the output still appears.
        guard let server = try? await cache.server() else { return [] }
        return (try? await server.perform(RemarksOperation(url: url)) { _ in })?.remarks.map(\.reason) ?? []
    }

    /// Shows what belongs to `title` besides the files that its stored playlists name, such as those of an earlier
    /// encoding.
    private func showUnnamed(of title: Title?, besides stream: StreamOutline) throws {
        guard let title, title.fileCount > stream.members.count else { return }
        let count = title.fileCount - stream.members.count
        try Terminal.print(
            "  and \(ByteCount(max(0, title.storedBytes - stream.storedBytes))) in \(count) "
                + "\(count == 1 ? "file" : "files") that its stored playlists do not name")
    }

    /// Shows a stream whose playlists are not stored: the origin forbids it, or they were removed while it was played.
    private func show(_ rest: StoredTitle) throws {
        if json { return try Terminal.printJSON(EntryReport(rest)) }
        try Terminal.print("\(rest.title.url)")
        let count = rest.fileCount
        try Terminal.print(
            "Stream, \(ByteCount(rest.storedBytes)) in \(count) \(count == 1 ? "file" : "files"); "
                + "its playlist is not stored")
    }

    private func describe(_ information: ContentInformation) throws {
        try Terminal.print("Type: \(information.mediaType ?? "unknown")")
        try Terminal.print("ETag: \(information.validators.etag?.description ?? "none")")
        try Terminal.print("Last-Modified: \(information.validators.lastModified?.description ?? "none")")
        try Terminal.print(
            "Ranges at the origin: \(information.rangesSupported.map { $0 ? "yes" : "no" } ?? "unknown")")
    }
}
