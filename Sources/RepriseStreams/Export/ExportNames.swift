import Foundation
import HTTPSemantics
import Playlists
import Reprise

/// The names of the files of an export.
///
/// Names below the outermost playlist are the export's own, with numbers: no URL can lead out of the folder with them,
/// be too long for a file system, or differ from another in the case of letters alone.
struct ExportNames {
    private var counts: [String: Int] = [:]

    /// The next name of its kind, such as `variant-1`.
    mutating func folder(_ kind: String) -> String { "\(kind)-\(next(kind))" }

    /// The path of the next file of its kind in `folder`, such as `variant-1/segment-00001.ts`.
    mutating func file(_ kind: String, in folder: String, extension ending: String) -> String {
        let number = "\(next("\(folder)/\(kind)"))"
        return "\(folder)/\(kind)-\(String(repeating: "0", count: max(0, 5 - number.count)))\(number).\(ending)"
    }

    private mutating func next(_ kind: String) -> Int {
        counts[kind, default: 0] += 1
        return counts[kind, default: 0]
    }

    /// The relative link from a playlist in `folder`, empty for the outermost one, to the file at `path`.
    static func link(from folder: String, to path: String) -> String {
        if folder.isEmpty { return path }
        return path.hasPrefix(folder + "/") ? String(path.dropFirst(folder.count + 1)) : "../" + path
    }

    /// Where a folder is taken to be, so that links in it can be resolved.
    static let place = "http://export.invalid/"

    /// The path of the file to which `link` leads in the playlist at `path`; `nil` if it leads out of the folder.
    static func path(of link: URIReference, in path: String) -> String? {
        let target = link.resolved(against: URIReference(place + path)).text
        return target.hasPrefix(place) ? String(target.dropFirst(place.count)) : nil
    }

    /// The path of a playlist of one part in time of what the playlist at `path` names: `film-part-2.m3u8`.
    static func part(_ number: Int, of path: String) -> String {
        let dot = path.lastIndex(of: ".") ?? path.endIndex
        return "\(path[..<dot])-part-\(number)\(path[dot...])"
    }

    // MARK: - The outermost playlist

    /// Longest name without its extension, in bytes: file systems take 255.
    private static let longestStem = 120

    /// The name of the outermost playlist: the last component of its URL as far as it is fit for a file, with the
    /// extension of the format.
    static func playlist(at url: ResourceURL, format: PlaylistFormat) -> String {
        let text = url.lastPathComponent.removingPercentEncoding ?? url.lastPathComponent
        let endings = format == .hls ? [".m3u8", ".m3u"] : [".mpd"]
        let ending = endings.first { text.lowercased().hasSuffix($0) }
        var stem = String(text.dropLast(ending?.count ?? 0).map { isFit($0) ? $0 : "_" })
        while stem.utf8.count > longestStem { stem.removeLast() }
        stem = stem.trimmingCharacters(in: CharacterSet(charactersIn: ". _"))
        if stem.isEmpty { stem = format == .hls ? "index" : "manifest" }
        return stem + (ending ?? endings[0])
    }

    private static func isFit(_ character: Character) -> Bool {
        character.isLetter || character.isNumber || "._- ()".contains(character)
    }

    // MARK: - Extensions

    private static let media: Set<String> = [
        "aac", "ac3", "cmfa", "cmft", "cmfv", "ec3", "flac", "fmp4", "jpeg", "jpg", "m4a", "m4s", "m4v", "mka", "mkv",
        "mov", "mp3", "mp4", "mpg", "oga", "ogg", "opus", "png", "srt", "ts", "ttml", "vtt", "wav", "webm", "webp",
        "webvtt",
    ]
    private static let types: [String: String] = [
        "application/json": "json", "application/ttml+xml": "ttml", "audio/aac": "aac", "audio/mp4": "m4s",
        "audio/mpeg": "mp3", "audio/webm": "webm", "image/jpeg": "jpg", "image/png": "png", "text/vtt": "vtt",
        "video/iso.segment": "m4s", "video/mp2t": "ts", "video/mp4": "m4s", "video/webm": "webm",
    ]

    /// The extensions of all files of exports.
    static let extensions = media.union(types.values).union(["m3u8", "m3u", "mpd"])

    /// The extension of a file at `link` of this media type: one by which players know media, or else `fallback`.
    static func ending(of link: URIReference, mediaType: String?, otherwise fallback: String) -> String {
        let name = link.path.split(separator: "/").last ?? ""
        if let dot = name.lastIndex(of: ".") {
            let ending = name[name.index(after: dot)...].lowercased()
            if media.contains(ending) { return ending }
        }
        return MediaType(mediaType).flatMap { types[$0.essence] } ?? fallback
    }
}
