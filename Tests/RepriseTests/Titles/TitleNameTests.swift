import Testing

@testable import Reprise

@Suite struct TitleNameTests {
    @Test(
        "a title is called by its file, or by its folders if many streams have such a file",
        arguments: [
            ("https://example.com/films/a%20b.mp4?token=1#x", "a%20b.mp4"),
            ("https://example.com/show/season-1/e03/master.m3u8", "show/season-1/e03"),
            ("https://example.com/tv/show/season-1/e03/hls/Index.M3U8?x", "show/season-1/e03"),
            ("https://example.com/film.mp4/playlist.m3u8", "film.mp4"), ("https://example.com/manifest", "manifest"),
            ("https://example.com/hls/index.m3u8", "hls/index.m3u8"), ("https://example.com/show/", "show"),
            ("https://example.com:81/", "example.com:81"), ("https://example.com?a/b", "example.com"), ("", ""),
            ("no URL/at all", "at all"), ("https://example.com/mastering.m3u8", "mastering.m3u8"),
        ])
    func names(url: String, name: String) { #expect(TitleName.path(of: url) == name) }
}
