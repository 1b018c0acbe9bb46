import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Numbers and bars of the page's script in a real browser, beside those of the page without it.
@Suite(
    .limit(minutes: 5),
    .enabled(if: Chromium.path != nil, "chromium is not installed; scripts/bootstrap test installs it"))
struct PageWordsInBrowserTests {
    /// Sizes at which rounding or the unit changes, and others.
    private static var sizes: [Int64] {
        var generator = SeededGenerator(seed: 27)
        let edges: [Int64] = [
            0, 1, 999, 1000, 1005, 1115, 1125, 1135, 9_994, 9_995, 10_050, 99_949, 99_950, 999_499, 999_500, -1115,
            4_000_000_000,
        ]
        return edges
            + (0..<500).map { _ in
                Int64.random(in: 0..<1_000_000_000_000_000, using: &generator)
                    >> Int64.random(in: 0..<40, using: &generator)
            }
    }

    private static func words(of sizes: [Int64]) -> [String] { sizes.map { ByteText.decimal($0) } }

    private static var percentages: [String] { (0...100).map { ShownText.percent($0, of: 100) } }

    @Test("the script says and draws what the page says and draws") func sameWords() async throws {
        try await Chromium().use { page async throws in
            try await page.call("Runtime.enable")
            func results(_ expression: String) async throws -> [String] {
                let text = try await page.run("(() => {\n\(PageScript.words)\nreturn (\(expression)).join('|') })()")
                return text.components(separatedBy: "|")
            }
            let sizes = Self.sizes
            let list = sizes.map(String.init).joined(separator: ",")
            #expect(try await results("[\(list)].map(bytes)") == Self.words(of: sizes))
            let shares = Self.percentages
            #expect(try await results("Array.from({ length: 101 }, (_, n) => percent(n, 100))") == shares)
            #expect(try await results("Array.from({ length: 101 }, (_, n) => percentOf(n / 100))") == shares)
            #expect(
                try await results("[percent(0, 0), percent(-5, 10), percent(20, 10), percentOf(0.999999999999)]")
                    == ["0 %", "0 %", "100 %", "99 %"])
            let streams = [(1.0, true), (0.56, false), (0, false), (nil, false)] as [(Double?, Bool)]
            let calls = streams.map { "streamWords(6100000, 3, \($0.map { "\($0)" } ?? "null"), \($1))" }
            #expect(
                try await results("[\(calls.joined(separator: ","))]")
                    == streams.map { ShownText.stream(6_100_000, files: 3, share: $0, isComplete: $1) })
            let urls = [
                "https://a.example/a%E2%80%AEb%20%E2%81%A6c", "http://a.example/%zz.mp4?…", "http://a.example",
                "http://a.example/show/season-1/e03/hls/master.m3u8?…", "http://a.example/hls/index.m3u8",
                "http://a.example/master.m3u8", "http://a.example/x/1/2/3/4/Manifest.mpd", "http://a.example/x//",
            ]
            let names = urls.map { ShownText.name(of: $0).file }
            #expect(try await results("['\(urls.joined(separator: "','"))'].map(url => nameOf(url).file)") == names)
            let bar = StoredBar(spans: [[0, 250], [99_999, 100_000], [7, 7]], length: 100_000, words: "x")
            let places = try await results(
                "[[0, 250], [99999, 100000], [7, 7]].flatMap(([from, to]) => placeOf(from, to, 100000))")
            let shown = places.compactMap { Double($0) }.map { ($0 * 10).rounded() }
            let written = bar.rectangles.flatMap { [$0.x, $0.width] }.map { ($0 * 10).rounded() }
            #expect(shown == written)
        }
    }
}
