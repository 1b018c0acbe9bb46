import ArgumentParser
import Reprise
import RepriseProxy

/// `reprise download`.
struct DownloadCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "download",
        abstract: "Download files and whole streams, and keep them.",
        discussion: """
            Stores everything that is needed to play without a network. Of a stream, these are the playlists, segments \
            and keys of one variant, with the languages that you choose. Of a plain list of files, such as an album in an \
            .m3u, all files are downloaded. Only what is missing is fetched.

            Stop it at any time. The download continues when you run the same command again, with --queued, and whenever \
            serve, download or fetch opens the cache. If there is no room, it waits with what it has. See and change downloads with: \
            reprise downloads. Delete one with: reprise remove URL.

            With --output, a copy is written when everything is stored: a stream becomes one file by ffmpeg, or a \
            folder. See: reprise export --help.

            Examples:
              reprise download https://example.com/film.mp4
              reprise download https://example.com/show/master.m3u8
              reprise download https://example.com/show/master.m3u8 --output show.mkv
              reprise download --quality 720p --audio en,de https://example.com/film.m3u8
              reprise download --while 02:00-06:00 https://example.com/film.mp4
              reprise download --from urls.txt
              reprise download --queued
              reprise download --background https://example.com/film.mp4
            """,
        aliases: ["get"])

    @OptionGroup var sources: URLSources
    @Flag(help: "Continue the downloads in the queue, except for paused ones.")
    var queued = false
    @OptionGroup(title: "Of a stream") var stream: StreamOptions
    @Option(
        name: .shortAndLong,
        help: ArgumentHelp(
            "Also write what was downloaded here, for a single URL.",
            discussion: "A name such as film.mkv makes one file of a stream, and a name without extension a folder.",
            valueName: "file"))
    var output: String?
    @Flag(help: "Leave the download to the running server, and return at once.")
    var background = false
    @OptionGroup var options: OutputOptions
    @OptionGroup var printed: TransferOutput
    @OptionGroup var headers: HeaderOptions
    @OptionGroup var pace: DownloadOptions
    @OptionGroup var store: StoreOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if sources.isEmpty != queued {
            throw ValidationError("Name the URLs to download, or a file of them with --from, or --queued.")
        }
        if queued, background || !headers.lines.isEmpty || stream.isGiven {
            throw ValidationError("--queued continues downloads as they were begun: leave other options out.")
        }
        if background, output != nil {
            throw ValidationError("--output waits for the end of the download; leave --background out.")
        }
        if background, store.reset { throw ValidationError("--reset empties the cache, which a server uses.") }
        guard let output else {
            if options.force { throw ValidationError("--force goes with --output.") }
            return
        }
        if !sources.isSingle { throw ValidationError("--output goes with a single URL.") }
        if output.isEmpty { throw ValidationError("--output is empty; name a file or a folder.") }
        if Output.isStandardOutput(output) {
            throw ValidationError("--output names a file or a folder; fetch and export write to standard output.")
        }
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let run = try TransferRun(cache: cache, store: store, pace: pace)
            let output = try output.map { try Output($0, force: options.force, cache: cache) }
            try output?.check()
            // Before the cache is opened: --reset empties it then.
            let urls =
                queued
                ? []
                : try signals.get(
                    await signals.interrupting { try await sources.checked(in: cache, output: printed) })
            let names = try cache.names(store.dropQueryItem)
            try await run(signals) { access in
                if queued { return try await continueQueue(in: access) }
                var lists: [(url: String, files: [String])] = []
                var outcome = try await TransferRun.each(urls, in: access, output: printed) { url, meter in
                    lists.append((url, try await download(url, names: names, in: access, meter: meter)))
                }
                for list in lists {
                    let files = try await cache.behindOwn(list.files)
                    let end = try await TransferRun.each(files, in: access, output: printed) { url, meter in
                        // A list in a list is downloaded itself, but not its files.
                        _ = try await download(url, listedBy: list.url, names: names, in: access, meter: meter)
                    }
                    outcome.code = outcome.code ?? end.code
                }
                return outcome
            }
            guard let output else { return }
            let exporter = Exporter(cache: cache, names: names, output: output, stream: stream, isJSON: printed.json)
            try await exporter.export(urls[0], signals)
        }
    }

    /// Waits until all downloads have ended that are neither done nor paused.
    private func continueQueue(in access: CacheAccess) async throws -> TransferRun.Outcome {
        let list = try await access.perform(
            DownloadsOperation(pause: [], resume: [], first: nil, names: Names()))
        var rest = list.downloads.filter { !["done", "paused"].contains($0.state) }[...]
        if rest.isEmpty, !printed.json {
            try Terminal.print("There is nothing to continue. To begin a download: reprise download URL")
        }
        return try await TransferRun.each(rest.map(\.url), in: access, output: printed) { url, meter in
            guard let id = rest.popFirst()?.id else { return }
            let outcome = try await access.perform(
                ContinueOperation(id: id, isInServer: access.isServer), shownBy: meter, of: url, names: Names(),
                advice: "Downloads continue with the same command.")
            try finish(url, outcome, meter)
        }
    }

    /// Downloads one URL; returns the URLs in it if it is a plain list of files.
    ///
    /// If a list names it, its host only gets the fields if it is the host of the list.
    private func download(
        _ url: String, listedBy list: String? = nil, names: Names, in access: CacheAccess, meter: FetchMeter
    ) async throws -> [String] {
        let isAlone = !access.isServer
        // The files of a plain list are only known once it is stored.
        let isList = try ResourceURL(url).lastPathComponent.lowercased().hasSuffix(".m3u")
        let background = background && !isList
        if self.background, isAlone {
            throw RepriseError(
                .invalidArgument, "No server uses this cache. Start one with: reprise serve. Or leave --background out."
            )
        }
        let isForeign = try list.map { try !ResourceURL($0).isSameHost(as: ResourceURL(url)) } ?? false
        let operation = DownloadOperation(
            url: url, quality: stream.quality, codec: stream.codec, audio: stream.audio, subtitles: stream.subtitles,
            pause: isAlone ? nil : true, background: background ? true : nil, fields: isForeign ? nil : headers.lines,
            names: names)
        let advice =
            switch (list, isAlone) {
            case (_?, _): "Run the same command again to go on."
            case (nil, true): "The download continues when serve, download or fetch opens the cache."
            case (nil, false):
                "A download that this command began is paused, unless another one waits for it: to go on, run the same "
                    + "command again."
            }
        let outcome = try await access.perform(operation, shownBy: meter, of: url, names: names, advice: advice)
        guard outcome.listed == nil || output == nil else {
            throw RepriseError(
                .invalidArgument,
                "\(URLText.redacted(url)) is a list of files, which --output does not write. Leave --output out.")
        }
        try finish(url, outcome, meter, background: background)
        return outcome.listed ?? []
    }

    /// Prints the outcome; throws why a URL could not be downloaded.
    private func finish(
        _ url: String, _ outcome: DownloadOperation.Outcome, _ meter: FetchMeter, background: Bool = false
    ) throws {
        if let failure = outcome.failure {
            throw outcome.isWaiting == true ? TransferRun.Waiting(reason: failure.reason) : failure.reason
        }
        if printed.json {
            try Terminal.printJSON(meter.report(background ? "queued" : "done"))
        } else if background {
            try Terminal.print("Queued: \(URLText.redacted(url)). To see how far it is: reprise downloads")
        } else {
            try Terminal.print("Downloaded: \(URLText.redacted(url)), \(StoredAmount(outcome.storedBytes))")
        }
    }
}
