import ArgumentParser
import Reprise

/// `reprise export`.
struct Export: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Write a stored file or stream out, without asking the origin.",
        discussion: """
            Also works while the proxy runs. A file must be whole; every part is checked on the way.

            Of a stream of HLS or DASH, the name after --output says what is written:
              any other name     a folder that plays from disk: playlists with relative
                                 links, segments and keys, of all that is stored whole
              .mp4 .mkv .m4a …   one file, through ffmpeg, without encoding: the best
                                 picture that is stored, and all sound
              .m3u8 .mpd or -    the playlist itself, as the origin sent it

            --quality, --codec, --audio and --subtitles narrow what is taken of a stream. \
            Subtitles get into .mp4, .mov, .mkv and .webm; those of DASH only with --subtitles. \
            Periods of DASH become one file if their tracks are alike.

            Exit codes: 66 if nothing is stored that plays as a whole; 127 if there is no \
            ffmpeg; 1 if ffmpeg fails or leaves something out, if periods of DASH differ, or \
            for a stream that is live or protected.

            Examples:
              reprise export https://example.com/film.mp4 --output film.mp4
              reprise export https://example.com/film.mp4 --output - | ffprobe -
              reprise export https://example.com/show/master.m3u8 --output show
              reprise export https://example.com/show/master.m3u8 --output show.mkv
              reprise export https://example.com/show/manifest.mpd -o sound.m4a --audio de
            """)

    @Argument(help: "URL, or cache key, of the entry.")
    var url: String
    @Option(
        name: .shortAndLong,
        help:
            "File or folder to write, which appears when it is whole; - for standard output. A pipe or device is written in place."
    )
    var output: String
    @OptionGroup var options: OutputOptions
    @OptionGroup(title: "Of a stream") var stream: StreamOptions
    @Flag(help: "One JSON object for the result, sizes in bytes.")
    var json = false
    @OptionGroup var names: NameOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if output.isEmpty {
            throw ValidationError("--output is empty; name a file or a folder, or - for standard output.")
        }
        if json, Output.isStandardOutput(output) {
            throw ValidationError("Standard output takes either the media or --json.")
        }
        try Output.refuseTerminal(output)
    }

    func run() async throws {
        let signals = StopSignals()
        try await Failure.reporting {
            let exporter = Exporter(
                cache: cache, names: try names.names(cache),
                output: try Output(output, force: options.force, cache: cache),
                stream: stream, isJSON: json)
            try await exporter.export(try await cache.behindOwn(url), signals)
        }
    }
}
