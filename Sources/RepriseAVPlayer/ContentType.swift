/// A uniform type identifier declared by Apple's systems, never a dynamic one.
///
/// Uses tables instead of `UTType`, so that every platform, and every version of one, gives the same answer. Sources:
/// Apple's list of system-declared identifiers, `AVFileType`, and the types that macOS itself declares.
struct ContentType: Sendable, Hashable {
    let identifier: String

    init(_ identifier: String) { self.identifier = identifier }

    /// Determines the type for AVFoundation: the app's override, then a specific media type, then the path's extension,
    /// then the first bytes.
    ///
    /// `nil` if none of them is conclusive; AVFoundation then decides by itself.
    static func decide(override: String?, mediaType: String?, pathExtension: String, firstBytes: [UInt8])
        -> ContentType?
    {
        if let override { return ContentType(fileType: override) }
        return ContentType(mediaType: mediaType) ?? ContentType(pathExtension: pathExtension)
            ?? ContentType(firstBytes: firstBytes)
    }

    /// Whether ``decide(override:mediaType:pathExtension:firstBytes:)`` would have to look at bytes.
    static func needsBytes(override: String?, mediaType: String?, pathExtension: String) -> Bool {
        override == nil && ContentType(mediaType: mediaType) == nil && ContentType(pathExtension: pathExtension) == nil
    }

    /// Creates a type from an identifier or a file name extension.
    init?(fileType: String) {
        guard !fileType.hasPrefix("dyn.") else { return nil }
        if fileType.contains(".") {
            self.init(fileType)
        } else {
            self.init(pathExtension: fileType)
        }
    }

    /// Creates a type from a media type, ignoring parameters; `nil` for the generic types that servers use for unknown
    /// files.
    init?(mediaType: String?) {
        guard let essence = mediaType?.prefix(while: { $0 != ";" }), let found = Self.byMediaType[Self.trimmed(essence)]
        else { return nil }
        self.init(found)
    }

    /// Creates a type from a file name extension, in any case, without the dot.
    init?(pathExtension: String) {
        guard let found = Self.byExtension[pathExtension.lowercased()] else { return nil }
        self.init(found)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }

    /// The identifier to answer with if only `allowed` ones are accepted; `nil` if none of them fits.
    ///
    /// An empty list accepts all. Otherwise the type itself, or one that it conforms to.
    func answer(allowed: [String]) -> ContentType? {
        if allowed.isEmpty || allowed.contains(identifier) { return self }
        var candidates = Self.parents[identifier] ?? []
        var seen: Set<String> = [identifier]
        while !candidates.isEmpty {
            let candidate = candidates.removeFirst()
            if allowed.contains(candidate) { return ContentType(candidate) }
            if seen.insert(candidate).inserted { candidates += Self.parents[candidate] ?? [] }
        }
        return nil
    }

    /// Whether this is a playlist that AVFoundation reads as text.
    var isPlaylist: Bool { identifier == "public.m3u-playlist" }

    /// The identifier of a key that AVFoundation requests while it plays HLS.
    static let contentKey = ContentType("com.apple.streamingkeydelivery.contentkey")
}

extension ContentType {
    /// By media type in lower case.
    static let byMediaType: [String: String] = table([
        "public.mp3":
            "audio/mpeg audio/mpeg3 audio/mpg audio/mp3 audio/x-mpeg audio/x-mpeg3 audio/x-mpg audio/x-mp3",
        "public.mpeg-4-audio": "audio/mp4 audio/x-mp4",
        "com.apple.m4a-audio": "audio/m4a audio/x-m4a",
        "com.apple.protected-mpeg-4-audio-b": "audio/x-m4b",
        "com.apple.protected-mpeg-4-audio": "audio/x-m4p",
        "com.apple.mpeg-4-ringtone": "audio/x-m4r",
        "public.aac-audio": "audio/aac audio/aacp audio/x-aac audio/adts",
        "org.xiph.flac": "audio/flac audio/x-flac",
        "com.microsoft.waveform-audio": "audio/wav audio/wave audio/x-wav audio/vnd.wave",
        "public.aiff-audio": "audio/aiff audio/x-aiff",
        "com.apple.coreaudio-format": "audio/caf audio/x-caf",
        "public.au-audio": "audio/basic audio/au audio/snd",
        "org.3gpp.adaptive-multi-rate-audio": "audio/amr",
        "public.ac3-audio": "audio/ac3",
        "public.enhanced-ac3-audio": "audio/eac3",
        "public.midi-audio": "audio/midi audio/x-midi",
        "public.mpeg-4": "video/mp4 video/mp4v application/mp4",
        "com.apple.m4v-video": "video/x-m4v",
        "com.apple.quicktime-movie": "video/quicktime",
        "public.3gpp": "video/3gpp audio/3gpp",
        "public.3gpp2": "video/3gpp2 audio/3gpp2",
        "public.mpeg": "video/mpeg video/mpg video/x-mpeg",
        "public.mpeg-2-video": "video/mpeg2",
        "public.mpeg-2-transport-stream": "video/mp2t",
        "public.avi": "video/avi video/msvideo video/x-msvideo",
        "public.m3u-playlist":
            "application/vnd.apple.mpegurl application/x-mpegurl audio/mpegurl audio/x-mpegurl",
        "org.w3.webvtt": "text/vtt",
    ])

    /// By file name extension in lower case.
    static let byExtension: [String: String] = table([
        "public.mp3": "mp3 mpga",
        "public.mp2": "mp2",
        "com.apple.m4a-audio": "m4a",
        "com.apple.protected-mpeg-4-audio-b": "m4b",
        "com.apple.protected-mpeg-4-audio": "m4p",
        "com.apple.mpeg-4-ringtone": "m4r",
        "public.mpeg-4": "mp4 mpg4 m4s cmfv",
        "public.mpeg-4-audio": "cmfa",
        "com.apple.m4v-video": "m4v",
        "com.apple.quicktime-movie": "mov qt",
        "com.apple.quicktime-audio": "qta",
        "public.3gpp": "3gp 3gpp sdv",
        "public.3gpp2": "3g2 3gp2",
        "public.aac-audio": "aac adts",
        "public.mp4a-loas": "loas latm",
        "org.xiph.flac": "flac",
        "com.microsoft.waveform-audio": "wav wave bwf",
        "public.aiff-audio": "aif aiff",
        "public.aifc-audio": "aifc cdda",
        "com.apple.coreaudio-format": "caf",
        "org.3gpp.adaptive-multi-rate-audio": "amr",
        "public.ac3-audio": "ac3",
        "public.enhanced-ac3-audio": "eac3 ec3",
        "public.au-audio": "au snd",
        "public.midi-audio": "mid midi kar smf",
        "public.mpeg": "mpg mpeg mpe m15 m75",
        "public.mpeg-2-video": "m2v",
        "public.mpeg-2-transport-stream": "ts",
        "public.avchd-mpeg-2-transport-stream": "mts m2ts",
        "public.avi": "avi vfw",
        "public.m3u-playlist": "m3u m3u8",
        "org.w3.webvtt": "vtt",
    ])

    /// The types that each type conforms to, as far as a list of allowed types may contain them.
    static let parents: [String: [String]] = [
        "com.apple.m4a-audio": ["public.mpeg-4-audio"],
        "com.apple.protected-mpeg-4-audio-b": ["com.apple.protected-mpeg-4-audio"],
        "com.apple.protected-mpeg-4-audio": ["public.mpeg-4-audio"],
        "com.apple.mpeg-4-ringtone": ["public.mpeg-4-audio"],
        "public.mpeg-4-audio": ["public.mpeg-4", "public.audio"],
        "com.apple.m4v-video": ["public.mpeg-4", "public.movie"],
        "public.mpeg-4": ["public.movie"],
        "com.apple.quicktime-movie": ["public.movie"],
        "com.apple.quicktime-audio": ["public.audio"],
        "public.3gpp": ["public.movie"],
        "public.3gpp2": ["public.movie"],
        "public.mp3": ["public.mpeg-audio", "public.audio"],
        "public.mp2": ["public.mpeg-audio", "public.audio"],
        "public.aac-audio": ["public.audio"],
        "public.mp4a-loas": ["public.audio"],
        "org.xiph.flac": ["public.audio"],
        "com.microsoft.waveform-audio": ["public.audio"],
        "public.aiff-audio": ["public.aifc-audio"],
        "public.aifc-audio": ["public.audio"],
        "com.apple.coreaudio-format": ["public.audio"],
        "org.3gpp.adaptive-multi-rate-audio": ["public.audio"],
        "public.ac3-audio": ["public.audio"],
        "public.enhanced-ac3-audio": ["public.audio"],
        "public.au-audio": ["public.audio"],
        "public.midi-audio": ["public.audio"],
        "public.mpeg": ["public.movie"],
        "public.mpeg-2-video": ["public.video"],
        "public.mpeg-2-transport-stream": ["public.movie"],
        "public.avchd-mpeg-2-transport-stream": ["public.mpeg-2-transport-stream"],
        "public.avi": ["public.movie"],
        "public.m3u-playlist": ["public.playlist", "public.text"],
        "org.w3.webvtt": ["public.text"],
        "public.mpeg-audio": ["public.audio"],
        "public.audio": ["public.audiovisual-content"],
        "public.video": ["public.movie"],
        "public.movie": ["public.audiovisual-content"],
        "public.audiovisual-content": ["public.data"],
        "public.text": ["public.data"],
        "com.apple.streamingkeydelivery.contentkey": ["public.data"],
    ]

    private static func table(_ names: [String: String]) -> [String: String] {
        var table: [String: String] = [:]
        for (identifier, list) in names { for name in list.split(separator: " ") { table[String(name)] = identifier } }
        return table
    }
}
