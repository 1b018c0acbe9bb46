import ArgumentParser
import Reprise

/// What of a stream is downloaded, by attributes.
struct StreamOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Variant of a stream: best (the default), smallest, first (as listed), a height such as 720p, or a bit rate such as 2Mbit.",
            valueName: "quality"))
    var quality: String?
    @Option(
        help: ArgumentHelp(
            "Codec of the picture: avc, hevc, av1, vp9, or a name such as hvc1; any by default.", valueName: "codec"))
    var codec: String?
    @Option(help: ArgumentHelp("Languages of the sound: en,de or all; the default one.", valueName: "languages"))
    var audio: String?
    @Option(
        help: ArgumentHelp(
            "Languages of the subtitles: en,de, all or none; those marked as default.", valueName: "languages"))
    var subtitles: String?

    /// Whether one of them was given.
    var isGiven: Bool { quality != nil || codec != nil || audio != nil || subtitles != nil }

    func validate() throws { _ = try selection() }

    /// The selection that they mean.
    func selection() throws -> StreamSelection {
        if codec?.isEmpty == true { throw ValidationError("--codec is empty; name a codec, such as hevc.") }
        return StreamSelection(
            quality: try Self.quality(quality), codec: codec, audio: try Self.languages(audio, option: "--audio"),
            subtitles: try Self.languages(subtitles, option: "--subtitles"))
    }

    private static func quality(_ text: String?) throws -> StreamSelection.Quality {
        guard let text = text?.lowercased() else { return .best }
        switch text {
        case "best": return .best
        case "smallest": return .smallest
        case "first": return .first
        default: break
        }
        if text.hasSuffix("p"), let lines = Int64(text.dropLast()), lines > 0 { return .height(lines) }
        if let rate = BitRate(argument: text) { return .bandwidth(rate.bitsPerSecond) }
        throw ValidationError(
            "--quality is \"\(text)\"; it takes best, smallest, first, a height such as 720p, or a bit rate such as 2Mbit."
        )
    }

    private static func languages(_ text: String?, option: String) throws -> StreamSelection.Languages {
        switch text {
        case nil: return .preset
        case "all": return .all
        case "none": return .none
        case let text?:
            let tags = text.split(separator: ",", omittingEmptySubsequences: false).map { $0.filter { $0 != " " } }
            let isTag = { (tag: String) in
                !tag.isEmpty && tag.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || $0 == "-") }
            }
            guard tags.allSatisfy(isTag) else {
                throw ValidationError("\(option) is \"\(text)\"; it takes language tags such as en,de, or all.")
            }
            return .only(tags)
        }
    }
}
