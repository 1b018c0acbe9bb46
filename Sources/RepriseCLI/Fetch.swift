import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient

/// `reprise fetch`.
struct Fetch: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Download URLs into the cache; only what is missing is fetched.",
        discussion: """
            Stop it at any time: the next run goes on from there.

            Examples:
              reprise fetch https://example.com/film.mp4
              reprise fetch https://example.com/song.mp3 --output song.mp3
              reprise fetch --json https://example.com/a.mp3 https://example.com/b.mp3
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions

    @Argument(help: "URLs to fetch.")
    var urls: [String]

    @Option(
        name: .shortAndLong, help: ArgumentHelp("Also write the media file here; for a single URL.", valueName: "file"))
    var output: String?

    @Option(
        name: .customLong("header"),
        help: ArgumentHelp(
            "Field sent to the origin, such as \"Authorization: Bearer …\"; may be repeated.", valueName: "field"))
    var headers: [String] = []

    @Flag(help: "Progress and results as one JSON object per line on standard output.")
    var json = false

    func validate() throws {
        if output != nil, urls.count != 1 { throw ValidationError("--output goes with a single URL.") }
        _ = try fields()
    }

    func run() async throws {
        try await Failure.reporting {
            let origin = NIOOrigin()
            let cache = try await cache.open(store.configuration(cache), origin, mayDoWithout: output != nil)
            if let problem = cache.storeProblem { Failure.report(problem) }
            var failure: RepriseError?
            for url in urls {
                do {
                    try await fetch(url, cache)
                } catch let error as RepriseError {
                    if json { try Terminal.printJSON(FetchReport(url: url, state: "failed", error: error.description)) }
                    Failure.report(error)
                    failure = failure ?? error
                }
            }
            await cache.close()
            await origin.shutdown()
            if let failure { throw Failure.code(failure) }
        }
    }

    private func fields() throws -> HTTPFieldsBox { try HTTPFieldsBox(headers) }

    private func fetch(_ url: String, _ cache: MediaCache) async throws {
        let read = try await cache.resource(for: url, fields: fields().fields).read()
        var meter = FetchMeter(url: url, total: read.count, isJSON: json)
        let file = try output.map { try OutputFile(path: $0) }
        do {
            func note(_ count: Int) throws { try meter.note(count, fromStore: read.servedBytes(from: .store)) }
            if let file {
                while let bytes = try await read.nextBytes() {
                    try file.write(bytes)
                    try note(bytes.count)
                }
                try file.finish()
            } else {
                while let piece = try await read.next() { try note(piece.count) }
            }
        } catch {
            meter.clear()
            file?.discard()
            throw error
        }
        try meter.finish(fromStore: read.servedBytes(from: .store))
        if read.isPastStore, cache.isStoring { Terminal.error("reprise: \(Self.bypass(read))") }
    }

    /// What of it was not stored, and why.
    private static func bypass(_ read: MediaRead) -> String {
        if read.passedThrough != nil { return "Nothing was stored: the response must not be." }
        let part = read.disposition == .bypass ? "Nothing" : "Not all of it"
        return "\(part) was stored: the disk failed, or the limit leaves no room. See --limit and --minimum-free."
    }
}
