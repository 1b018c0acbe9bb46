import ArgumentParser
import Foundation
import Reprise
import RepriseStreams

/// `reprise downloads`.
struct DownloadsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "downloads",
        abstract: "List downloads in their order; pause, resume and move them.",
        discussion: """
            A download begins with pin --download, and goes on whenever a command that fetches opens the cache: serve,
            fetch, pin, play. Two run at once, in this order. What is paused stays stored. To change downloads, the proxy
            must not be running on the same directory; the list also works while it runs.

            Examples:
              reprise downloads
              reprise downloads --pause https://example.com/film.mp4
              reprise downloads --resume https://example.com/film.mp4 --first https://example.com/film.mp4
              reprise downloads --json | jq -r 'select(.state != "done") | .url'
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var names: NameOptions
    @Option(help: ArgumentHelp("Download to pause; may be repeated.", valueName: "url"))
    var pause: [String] = []
    @Option(help: ArgumentHelp("Download that may go on; may be repeated.", valueName: "url"))
    var resume: [String] = []
    @Option(help: ArgumentHelp("Download to move before all others.", valueName: "url"))
    var first: String?
    @Flag(help: "One JSON object per line.")
    var json = false

    /// A download in JSON.
    private struct Report: Encodable {
        let url: String
        let state: String
        let storedBytes: Int64
        let completeLength: Int64?
        /// Of a stream.
        let storedFiles, files: Int?
    }

    func run() async throws {
        try await Failure.reporting {
            let list = try await isChange ? changed() : Download.all(try cache.inspector(), policy: names.policy)
            for download in list {
                if json {
                    try Terminal.printJSON(
                        Report(
                            url: URLText.withoutCredentials("\(download.url)"), state: Self.word(download.state),
                            storedBytes: download.storedBytes, completeLength: download.completeLength,
                            storedFiles: download.files?.stored, files: download.files?.all))
                } else {
                    try Terminal.print(Self.line(download))
                }
            }
            if list.isEmpty, !json {
                try Terminal.print("There are no downloads. To begin one: reprise pin --download URL")
            }
        }
    }

    private var isChange: Bool { !pause.isEmpty || !resume.isEmpty || first != nil }

    /// Changes downloads; returns all of them.
    private func changed() async throws -> [Download] {
        try await cache.withCache(dropping: names.dropQueryItem) { store in
            try await change(store)
            return await store.downloads.list()
        }
    }

    private func change(_ store: MediaCache) async throws {
        let known = Set(await store.downloads.list().map(\.key))
        func key(_ url: String) throws -> CacheKey {
            let key = try store.resource(for: url).key
            guard known.contains(key) else {
                throw RepriseError(
                    .notStored, "\(URLText.redacted(url)) is no download. To begin it: reprise pin --download URL")
            }
            return key
        }
        // All are looked up before the first is changed.
        let (paused, resumed) = (try pause.map(key), try resume.map(key))
        let moved = try first.map(key)
        for key in paused { try await store.downloads.pause(key) }
        for key in resumed { try await store.downloads.resume(key) }
        if let moved { try await store.downloads.move(moved, before: await store.downloads.list().first?.key) }
    }

    private static func line(_ download: Download) -> String {
        let size = download.completeLength.map { " of \(ByteCount($0))" } ?? ""
        return "\(word(download.state).padding(toLength: 7, withPad: " ", startingAt: 0))"
            + "  \(ByteCount(download.storedBytes))\(size)  \(download.url.redacted)"
    }

    /// What it does while no command fetches: what would run or wait is queued.
    private static func word(_ state: Download.State) -> String {
        switch state {
        case .queued, .running, .waiting, .failed: "queued"
        case .paused: "paused"
        case .done: "done"
        }
    }
}
