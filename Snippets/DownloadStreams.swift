// Downloads a stream, by what its playlist says of variants and languages.

// snippet.hide
import Reprise
import RepriseHTTPClient
import RepriseStreams

// snippet.show
var configuration = MediaCache.Configuration()
configuration.downloadsStreams = true
// snippet.hide
let cache = try await MediaCache.open(
    directory: "media-cache", origin: NIOOrigin(), configuration: configuration)
let series = try cache.resource(for: "https://example.com/series/master.m3u8")
// snippet.show
let selection = StreamSelection(quality: .height(1080), audio: .only(["en", "de"]), subtitles: .all)
try await cache.downloads.add(series, selection: selection)
