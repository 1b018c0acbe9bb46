/// Names of titles that have none, from their URLs.
package enum TitleName {
    /// The last segment of the path of `url`, which may be any text, or the host if there is no path.
    ///
    /// File names that many streams share, such as `master.m3u8`, are replaced by up to three folders, such as
    /// `show/season-1/e03`. Percent-encoding is kept.
    package static func path(of url: String) -> String {
        let start = url.firstRange(of: "://")?.upperBound ?? url.startIndex
        var segments = url[start...].prefix { !"?#\n".contains($0) }.split(separator: "/")
        guard segments.count > 1, let last = segments.last else { return String(segments.last ?? url[start...]) }
        segments.removeFirst()
        guard isCommon(last) else { return String(last) }
        let folders = segments.lastIndex { !isCommon($0) }.map { segments[...$0] } ?? segments[...]
        return folders.suffix(3).joined(separator: "/")
    }

    private static func isCommon(_ segment: Substring) -> Bool {
        common.contains(segment.prefix { $0 != "." }.lowercased())
    }

    /// Usual names of playlists and their folders.
    private static let common: Set<String> = [
        "chunklist", "dash", "hls", "index", "live", "main", "manifest", "master", "media", "playlist", "prog_index",
        "stream", "vod",
    ]
}
