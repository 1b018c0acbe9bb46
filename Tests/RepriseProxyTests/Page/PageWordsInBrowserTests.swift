import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// Numbers and names of the page's script in a real browser.
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

    /// The part of the script that makes words.
    private static func words() throws -> String {
        let script = String(decoding: PackageResources.page_js, as: UTF8.self)
        let start = try #require(script.firstRange(of: "// Words."))
        let end = try #require(script.firstRange(of: "// Elements."))
        return String(script[start.lowerBound..<end.lowerBound])
    }

    @Test("the script writes sizes, shares and names as the command does") func words() async throws {
        let words = try Self.words()
        try await Chromium().use { page async throws in
            try await page.call("Runtime.enable")
            func results(_ expression: String) async throws -> [String] {
                let text = try await page.run("(() => {\n\(words)\nreturn (\(expression)).join('|') })()")
                return text.components(separatedBy: "|")
            }
            let sizes = Self.sizes
            let list = sizes.map(String.init).joined(separator: ",")
            #expect(try await results("[\(list)].map(bytes)") == sizes.map { ByteText.decimal($0) })
            let shares = (0...100).map { "\($0) %" }
            #expect(try await results("Array.from({ length: 101 }, (_, n) => percent(n, 100))") == shares)
            #expect(try await results("Array.from({ length: 101 }, (_, n) => percentOf(n / 100))") == shares)
            #expect(
                try await results("[percent(0, 0), percent(-5, 10), percent(20, 10), percentOf(0.999999999999)]")
                    == ["0 %", "0 %", "100 %", "99 %"])
            let urls = [
                "https://a.example/ab%20c", "http://a.example/film.mp4?…", "http://a.example",
                "http://a.example/show/season-1/e03/hls/master.m3u8?…", "http://a.example/hls/index.m3u8",
                "http://a.example/master.m3u8", "http://a.example/x/1/2/3/4/Manifest.mpd", "http://a.example/x//",
            ]
            let names = urls.map { url in
                let name = TitleName.path(of: url)
                return name.removingPercentEncoding ?? name
            }
            #expect(try await results("['\(urls.joined(separator: "','"))'].map(url => nameOf(url).file)") == names)
            #expect(
                try await results("[nameOf('https://a.example/a%E2%80%AEb').file, nameOf('http://a.example/%zz').file]")
                    == ["ab", "%zz"])
            // A narrow part at the end keeps its width within the bar.
            #expect(
                try await results(
                    "[[0, 250], [99999, 100000], [7, 7]].flatMap(part => placeOf(...part, 100000)).map(Math.round)")
                    == ["0", "3", "997", "3", "0", "0"])
        }
    }
}
