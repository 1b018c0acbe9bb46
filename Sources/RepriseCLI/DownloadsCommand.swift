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
            Downloads are begun with reprise download, and continue whenever serve, download or fetch opens the cache; \
            reprise download --queued continues all of them. Two run at once, in this order. What is paused stays stored. While the server runs, its \
            downloads say whether they run, wait or have failed, why, and what helps; they are queued otherwise, also \
            beside another command that fetches them, and say why they waited or failed last.

            Examples:
              reprise downloads
              reprise downloads --pause https://example.com/film.mp4
              reprise downloads --first https://example.com/film.mp4
              reprise downloads --json | jq -r 'select(.state != "done") | .url'
              reprise downloads --json | jq -r 'select(.state == "failed") | .error'
            """)

    @Option(help: ArgumentHelp("Download to pause; may be repeated.", valueName: "url"))
    var pause: [String] = []
    @Option(
        help: ArgumentHelp(
            "Download to resume; one that waits for its hours begins at once. May be repeated.", valueName: "url"))
    var resume: [String] = []
    @Option(help: ArgumentHelp("Download to move before all others.", valueName: "url"))
    var first: String?
    @Flag(help: "One JSON object per line.")
    var json = false
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    /// A download in JSON.
    private struct Report: Encodable {
        let url: String
        let state: String
        let storedBytes: Int64
        let completeLength: Int64?
        /// Of a stream.
        let storedFiles, files: Int?
        /// Of one that waits or has failed.
        let waitsFor, error, code, help: String?

        init(_ download: DownloadsOperation.Outcome.Item) {
            (url, state) = (download.url, download.state)
            (storedBytes, completeLength) = (download.storedBytes, download.completeLength)
            (storedFiles, files) = (download.storedFiles, download.files)
            (waitsFor, help) = (download.trouble?.waitsFor, download.trouble?.help)
            (error, code) = (download.trouble?.reason, download.trouble?.code)
        }
    }

    func run() async throws {
        try await Failure.reporting {
            let outcome = try await outcome()
            for download in outcome.downloads {
                if json {
                    try Terminal.printJSON(Report(download))
                } else {
                    try Terminal.print(Self.line(download))
                }
            }
            if outcome.downloads.isEmpty, !json {
                try Terminal.print("There are no downloads. To begin one: reprise download URL")
            }
        }
    }

    private func outcome() async throws -> DownloadsOperation.Outcome {
        let operation = DownloadsOperation(
            pause: try await cache.behindOwn(pause), resume: try await cache.behindOwn(resume),
            first: try await cache.behindOwn(first.map { [$0] } ?? []).first, names: try names.names(cache))
        do { return try await cache.perform(operation, isPatient: !operation.onlyLists) } catch let error
            as RepriseError
        {
            // A process that takes no requests uses the cache: what it has recorded can still be listed.
            guard error.code == .storageLocked, operation.onlyLists else { throw error }
            let downloads = try await Download.all(try cache.recordedInspector(), policy: names.names(cache).policy)
            let troubles = downloads.compactMap { download in DownloadTrouble(download).map { (download.key, $0) } }
            return DownloadsOperation.Outcome(
                downloads, isFetching: false, troubles: Dictionary(troubles) { first, _ in first })
        }
    }

    private static func line(_ download: DownloadsOperation.Outcome.Item) -> String {
        let size = download.completeLength.map { " of \(ByteCount($0))" } ?? ""
        let trouble = (download.trouble?.lines ?? []).map { "\n         \($0)" }.joined()
        return "\(download.state.padding(toLength: 7, withPad: " ", startingAt: 0))"
            + "  \(ByteCount(download.storedBytes))\(size)  \(download.shown)\(trouble)"
    }
}
