import RepriseStreams

/// A kind of media file that ffmpeg can write a stream into without encoding it again.
struct MediaContainer: Sendable {
    /// ffmpeg's name of the format.
    let format: String
    /// Whether it takes sound alone.
    let isSound: Bool
    /// What subtitles become in it; `nil` if it takes none.
    let subtitles: String?
    /// How it names languages.
    let languages: ContainerLanguage

    private init(
        _ format: String, isSound: Bool = false, subtitles: String? = nil, languages: ContainerLanguage = .tag
    ) {
        (self.format, self.isSound, self.subtitles, self.languages) = (format, isSound, subtitles, languages)
    }

    private static let known: [String: MediaContainer] = [
        "mp4": MediaContainer("mp4", subtitles: "mov_text", languages: .iso),
        "m4v": MediaContainer("mp4", subtitles: "mov_text", languages: .iso),
        "mov": MediaContainer("mov", subtitles: "mov_text", languages: .quickTime),
        "mkv": MediaContainer("matroska", subtitles: "subrip"),
        "webm": MediaContainer("webm", subtitles: "webvtt"), "ts": MediaContainer("mpegts", languages: .iso),
        "m4a": MediaContainer("ipod", isSound: true, languages: .iso),
        "m4b": MediaContainer("ipod", isSound: true, languages: .iso),
        "mka": MediaContainer("matroska", isSound: true), "mp3": MediaContainer("mp3", isSound: true),
        "aac": MediaContainer("adts", isSound: true), "ac3": MediaContainer("ac3", isSound: true),
        "flac": MediaContainer("flac", isSound: true), "ogg": MediaContainer("ogg", isSound: true),
        "oga": MediaContainer("ogg", isSound: true), "opus": MediaContainer("opus", isSound: true),
    ]

    /// The container that files with this extension, in lower case, are; `nil` for other extensions.
    init?(extension ending: String) {
        guard let known = Self.known[ending] else { return nil }
        self = known
    }

    /// Whether ffmpeg marks subtitles in it as the default, although none are.
    var enablesSubtitles: Bool { subtitles == "mov_text" }

    /// ffmpeg's arguments that copy the stream whose playlist is at `playlist` into the file at `path`.
    ///
    /// `texts` are the subtitles of HLS: inputs of their own, because ffmpeg reads none that a multivariant playlist
    /// names. Those of DASH are taken only `withSubtitles`.
    func arguments(from playlist: String, texts: [Text], to path: String, withSubtitles: Bool) -> [String] {
        let pictures = isSound ? [] : ["-map", "0:v?"]
        var maps = self.maps(of: texts)
        if texts.isEmpty, withSubtitles, let subtitles { maps = ["-map", "0:s?", "-c:s", subtitles] }
        return Self.input(stream: playlist) + texts.flatMap { Self.input(text: $0) } + pictures + [
            "-map", "0:a?", "-c", "copy",
        ] + maps + target(format, path)
    }

    /// The arguments for `texts`, which are the inputs from the second one on.
    private func maps(of texts: [Text]) -> [String] {
        guard let subtitles, !texts.isEmpty else { return [] }
        var maps: [String] = []
        for (number, text) in texts.enumerated() {
            maps += ["-map", "\(number + 1):s?"]
            if let language = text.track.language {
                maps += ["-metadata:s:s:\(number)", "language=\(languages.name(of: language))"]
            }
            let marks = [text.track.isDefault ? "default" : nil, text.track.isForced ? "forced" : nil]
                .compactMap { $0 }
            // Without marks ffmpeg calls the first one the default.
            maps += ["-disposition:s:\(number)", marks.isEmpty ? "0" : marks.joined(separator: "+")]
        }
        return maps + ["-c:s", subtitles]
    }

    /// ffmpeg's arguments that copy one of several periods, whose playlist is at `playlist`, into the file at `path`,
    /// with its streams in `order`.
    func arguments(fromPeriod playlist: String, order: ExportedPeriod.Order, to path: String) -> [String] {
        let pictures = isSound ? [] : ["-map", "0:v?"]
        let sound = order.sound.isEmpty ? ["-map", "0:a?"] : order.sound.flatMap { ["-map", "0:a:\($0)"] }
        let texts = subtitles == nil ? [] : order.subtitles.flatMap { ["-map", "0:s:\($0)"] }
        let codec = subtitles.map { texts.isEmpty ? [] : ["-c:s", $0] } ?? []
        return Self.input(stream: playlist) + pictures + sound + texts + ["-c", "copy"] + codec
            + target(partFormat, path)
    }

    /// ffmpeg's arguments that join the files of periods, which are in the list at `list`, with `texts` into the file
    /// at `path`.
    func arguments(joining list: String, texts: [Text], to path: String) -> [String] {
        Self.input(list, as: "concat", of: ["mov", "matroska"], over: "file")
            + texts.flatMap { Self.input(text: $0) } + ["-map", "0", "-c", "copy"] + maps(of: texts)
            + target(format, path)
    }

    /// The format of the files of periods: Matroska takes everything, and MP4 keeps the times of MP4 exactly.
    private var partFormat: String { ["mp4", "mov", "ipod"].contains(format) ? "mp4" : "matroska" }

    private func target(_ format: String, _ path: String) -> [String] { ["-f", format, "-y", "file:\(path)"] }

    /// A WebVTT file.
    struct Text {
        let path: String
        let track: StreamExport.Subtitles
    }

    // MARK: - Inputs

    /// ffmpeg's formats of segments and media files, none of which names other files.
    ///
    /// By default ffmpeg looks what a segment is, and opens the files that it names if it is a list (`ffconcat`).
    static let mediaFormats = [
        "mov", "mpegts", "matroska", "webvtt", "aac", "ac3", "eac3", "mp3", "flac", "ogg", "wav",
    ]

    /// A playlist of an export, its segments, and the keys beside them.
    private static func input(stream playlist: String) -> [String] {
        let names = ["-allowed_extensions", StreamExport.extensions.sorted().joined(separator: ",")]
        let format = playlist.hasSuffix(".mpd") ? "dash" : "hls"
        return names + input(playlist, as: format, of: mediaFormats, over: "file,crypto,data")
    }

    private static func input(text: Text) -> [String] { input(text.path, as: "webvtt", of: [], over: "file") }

    /// The file at `path` of this format, in which files of these `formats` are named.
    private static func input(
        _ path: String, as format: String, of formats: [String], over protocols: String
    ) -> [String] {
        let known = ([format] + formats).joined(separator: ",")
        return ["-protocol_whitelist", protocols, "-format_whitelist", known, "-f", format, "-i", "file:\(path)"]
    }
}
