import Foundation
import HTTPTypes
import Reprise
import RepriseProxy
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// A real browser in front of the proxy: pages of other sites get nothing; an allowed page and a user's tab play.
///
/// Pages come from `localhost`, the proxy is `127.0.0.1`: two sites.
@Suite(
    .serialized, .limit(minutes: 5),
    .enabled(
        if: Chromium.path != nil && Players.ffmpeg != nil,
        "chromium or ffmpeg is not installed; scripts/bootstrap test installs them"))
struct ChromiumPlayerTests {
    /// The proxy, its media origin, and the server of the pages.
    private struct Scene {
        let proxy: ProxyBench
        let pages: TestOrigin
        let browser: Chromium
        let film: [UInt8]

        var site: String { "http://localhost:\(pages.port)" }
        var origin: String { "127.0.0.1:\(proxy.bench.origin.port)" }

        func page(_ path: String, _ body: String) {
            let script = ChromiumPages.script(proxy: proxy.server.address, origin: origin, body)
            pages.set(TestOrigin.Resource(.bytes(script), mediaType: "text/html"), at: path)
        }

        /// The reports of the page at `path` when it is done.
        func reports(of path: String) async throws -> [String: String] {
            try await browser.open(site + path) {
                await pages.waitUntil { $0["/report"].requests.contains { $0.target == "/report?done=yes" } }
            }
            let lines = pages.snapshot["/report"].requests.compactMap { $0.target.split(separator: "?").last }
            let pairs = lines.map {
                $0.split(separator: "=", maxSplits: 1).map { String($0).removingPercentEncoding ?? "" }
            }
            return Dictionary(pairs.map { ($0[0], $0.last ?? "") }) { $1 }
        }
    }

    private static func run(
        allowsPages: Bool = false, _ body: (Scene) async throws -> Void
    ) async throws {
        let pages = try await TestOrigin.start()
        let film = try await film()
        try await ProxyBench.run(
            configureProxy: { if allowsPages { $0.allowedPages = ["http://localhost:\(pages.port)"] } }
        ) { proxy async throws in
            let scene = Scene(proxy: proxy, pages: pages, browser: try Chromium(), film: film)
            let origin = proxy.bench.origin
            origin.set(TestOrigin.Resource(.bytes(film), mediaType: "video/mp4"), at: "/film.mp4")
            let script = TestOrigin.Resource(.bytes(Array("self.x = 1".utf8)), mediaType: "text/javascript")
            origin.set(script, at: "/worker.js")
            let attack = ChromiumPages.attack(reportTo: scene.site, origin: scene.origin)
            var personality = TestOrigin.Personality()
            personality.fields = [.setCookie: "session=1; Path=/; Max-Age=600"]
            if let name = HTTPField.Name("Service-Worker-Allowed") { personality.fields[name] = "/" }
            origin.set(
                TestOrigin.Resource(.bytes(attack), mediaType: "text/html", personality: personality),
                at: "/attack.html")
            try await body(scene)
        }
        await pages.stop()
    }

    /// Twenty seconds of one red picture.
    private static func film() async throws -> [UInt8] {
        let directory = try TemporaryDirectory(prefix: "reprise-film")
        defer { directory.remove() }
        let path = directory.path(of: "film.mp4")
        let outcome = try await ChildProcess.run(
            Players.ffmpeg ?? "",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "color=c=red:size=320x240:rate=10:duration=20",
                "-c:v", "libx264", "-pix_fmt", "yuv420p", "-g", "10", "-movflags", "+faststart", path,
            ])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    @Test func aPageOfAnotherSiteGetsNothing() async throws {
        try await Self.run { scene async throws in
            // The store has nothing for it either.
            _ = try await scene.proxy.get("/film.mp4")
            scene.page("/evil.html", ChromiumPages.attempts)
            let reports = try await scene.reports(of: "/evil.html")
            for name in ["read", "opaque", "post", "preflight", "video", "script", "worker"] {
                #expect(reports[name] == "failed", "\(name)")
            }
            #expect(reports["attack"] == nil, "no frame and no tab of it ran a hostile document")
            let requests = scene.proxy.bench.origin.snapshot.requests
            #expect(requests.map(\.target) == ["/film.mp4"], "none of it reached the origin")
        }
    }

    @Test func aHostileDocumentThatAPersonOpensDoesNotRun() async throws {
        try await Self.run { scene async throws in
            let address = scene.proxy.server.address
            let shown = try await scene.browser.run("\(address)/http/\(scene.origin)/attack.html", ["--dump-dom"])
            #expect(shown.output.contains("quiet"), "\(shown)")
            #expect(!shown.output.contains("ran</body>"))
            // Another origin behind the same address gets no cookie of the first.
            let port = scene.proxy.bench.origin.port
            let other = try await scene.browser.run("\(address)/http/localhost:\(port)/attack.html", ["--dump-dom"])
            #expect(other.output.contains("quiet"), "\(other)")
            let requests = scene.proxy.bench.origin.snapshot.requests
            #expect(requests.count { $0.target == "/attack.html" } == 2)
            #expect(requests.allSatisfy { $0.fields[.cookie] == nil })
            #expect(requests.allSatisfy { $0.target != "/film.mp4" && $0.target != "/worker.js" })
            #expect(scene.pages.snapshot["/report"].requestCount == 0)
        }
    }

    @Test func anAllowedPagePlaysSeeksAndReadsParts() async throws {
        try await Self.run(allowsPages: true) { scene async throws in
            scene.page("/player.html", ChromiumPages.player)
            let reports = try await scene.reports(of: "/player.html")
            #expect(reports["played"] == "yes")
            #expect(reports["seeked"] == "yes")
            #expect(reports["status"] == "206")
            #expect(reports["range"] == "bytes 10-19/\(scene.film.count)")
            #expect(reports["length"] == "10")
        }
    }

    @Test func aPersonsTabShowsTheFilm() async throws {
        try await Self.run { scene async throws in
            let url = "\(scene.proxy.server.address)/http/\(scene.origin)/film.mp4"
            var colors: [[UInt8]] = []
            // A busy machine may take the picture before the film has loaded; a film that does not play is never red.
            for seconds in [2, 5, 10, 20] {
                let options = ["--timeout=\(seconds * 1000)", "--screenshot=\(scene.browser.screenshot)"]
                let outcome = try await scene.browser.run(url, options)
                #expect(outcome.exit == .status(0), "\(outcome)")
                colors.append(try await Self.middle(of: scene.browser.screenshot))
                if Self.isRed(colors.last ?? []) { break }
            }
            #expect(Self.isRed(colors.last ?? []), "\(colors)")
        }
    }

    private static func isRed(_ color: [UInt8]) -> Bool {
        color.count == 3 && color[0] > 200 && color[1] < 60 && color[2] < 60
    }

    /// Red, green and blue in the middle of a picture.
    private static func middle(of picture: String) async throws -> [UInt8] {
        let path = picture + ".rgb"
        let outcome = try await ChildProcess.run(
            Players.ffmpeg ?? "",
            [
                "-v", "error", "-nostdin", "-y", "-i", picture, "-vf", "crop=10:10:195:145,scale=1:1", "-f", "rawvideo",
                "-pix_fmt", "rgb24", path,
            ])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }
}
