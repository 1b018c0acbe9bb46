import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// The page of `reprise serve` in a real browser.
@Suite(
    .serialized, .limit(minutes: 5),
    .enabled(
        if: Chromium.path != nil && StreamMedia.ffmpeg != nil,
        "chromium or ffmpeg is not installed; scripts/bootstrap test installs them"))
struct PageInBrowserTests {
    private struct Scene {
        let site: Site
        let serving: Serving
        let page: DevTools

        var address: String { "http://127.0.0.1:\(serving.port)/" }

        /// Stores the file at `path` as a player does.
        func play(_ path: String) async throws {
            #expect(try await serving.get(site.target(path)).head.status == 200)
        }

        func open() async throws {
            try await page.open(address)
            try await page.wait(for: "document.querySelector('#titles button')")
        }

        /// Moves the focus forward until it is on the button with that text.
        func tab(to text: String) async throws {
            for _ in 0..<60 {
                let focused = "document.activeElement.textContent.trim() === '\(text)'"
                if try await page.run(focused + " ? 'yes' : 'no'") == "yes" { return }
                try await page.press("Tab")
            }
            let list = try await page.run("[...document.querySelectorAll('button')].map(b => b.textContent).join('|')")
            throw DevTools.Failure(text: "\(text) is not reached: \(list)")
        }

        /// The stored files, and how they are kept.
        func stored() async throws -> [String] {
            let list = try await Command.run("list", site.directory, ["--json"])
            return try Command.json(Entry.self, list).map {
                "\($0.url.split(separator: "/").last ?? "") \($0.kept ?? "")"
            }
        }

        /// What the browser complains about: refused scripts, styles and requests, and errors of the script.
        var complaints: [String] {
            page.events.filter { event in
                event.method == "Runtime.exceptionThrown"
                    || event.method == "Log.entryAdded" && event.text.contains(#""level":"error""#)
            }.map(\.text)
        }
    }

    private static func run(_ body: (Scene) async throws -> Void) async throws {
        let film = try await film()
        try await Site.run { site async throws in
            site.origin.set(TestOrigin.Resource(.bytes(film), mediaType: "video/mp4"), at: "/film.mp4")
            try await Serving.run(site.directory) { serving async throws in
                try await Chromium().use { page async throws in
                    for domain in ["Page", "Runtime", "Log", "Network"] { try await page.call(domain + ".enable") }
                    try await body(Scene(site: site, serving: serving, page: page))
                }
            }
        }
    }

    /// Ten seconds of one picture.
    private static func film() async throws -> [UInt8] {
        let directory = try TemporaryDirectory(prefix: "reprise-film")
        defer { directory.remove() }
        let path = directory.path(of: "film.mp4")
        let outcome = try await ChildProcess.run(
            StreamMedia.ffmpeg ?? "",
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "color=c=red:size=320x240:rate=10:duration=10", "-c:v",
                "libx264", "-pix_fmt", "yuv420p", "-g", "10", "-movflags", "+faststart", path,
            ])
        #expect(outcome.exit == .status(0), "\(outcome)")
        return [UInt8](try Data(contentsOf: URL(filePath: path)))
    }

    @Test("every action works by keyboard, and the browser has nothing to complain about") func keyboard() async throws
    {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            try await scene.open()
            // A message stays for some seconds only.
            _ = try await scene.page.run(
                """
                window.said = [];
                new MutationObserver(() => said.push(document.querySelector('#status').textContent))
                    .observe(document.querySelector('#status'), { childList: true, characterData: true, subtree: true });
                'watching'
                """)
            try await scene.tab(to: "Pin film.mp4")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.activeElement.textContent === 'Unpin film.mp4'")
            #expect(try await scene.stored() == ["film.mp4 pinned"])
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.activeElement.textContent === 'Pin film.mp4'")
            // Removing asks first; the dialog begins with the harmless answer, and Escape is one.
            try await scene.tab(to: "Details of film.mp4")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.querySelector('#details:modal')")
            try await scene.tab(to: "Remove…")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.querySelector('#ask:modal')")
            #expect(try await scene.page.run("document.activeElement.textContent") == "Cancel")
            try await scene.page.press("Escape")
            try await scene.page.wait(for: "!document.querySelector('#ask[open]')")
            #expect(try await scene.stored() == ["film.mp4 "])
            try await scene.page.wait(for: "document.activeElement.textContent === 'Remove…'")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.querySelector('#ask:modal')")
            try await scene.tab(to: "Remove")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "!document.querySelector('#titles li')")
            try await scene.page.wait(for: "!document.querySelector('dialog[open]')")
            #expect(try await scene.stored() == [])
            try await scene.page.wait(for: "said.some(text => text.startsWith('Removed film.mp4'))")
            #expect(scene.complaints.isEmpty, "\(scene.complaints)")
            // Nothing was asked of another server.
            let asked = scene.page.events.filter { $0.method == "Network.requestWillBeSent" }
            #expect(asked.count > 3)
            for event in asked {
                let isOwn = event.text.contains(#""url":"\#(scene.address)"#) || event.text.contains(#""url":"data:"#)
                #expect(isOwn, "\(event.text)")
            }
        }
    }

    @Test("the address that it shows is its own, and is copied") func address() async throws {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            try await scene.open()
            #expect(try await scene.page.run("document.querySelector('#address').textContent") == scene.address)
            let example = try await scene.page.run("document.querySelector('#example').textContent")
            #expect(example == scene.address + "https/example.com/film.mp4")
            try await scene.tab(to: "Copy the address")
            try await scene.page.press("Enter")
            try await scene.page.wait(
                for: "document.querySelector('#status').textContent === 'The address is copied.'")
            #expect(scene.complaints.isEmpty, "\(scene.complaints)")
        }
    }

    @Test("nothing of the page shuts people out: light and dark, small and large") func accessibility() async throws {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            let hostile = "/" + String(repeating: "a-long-name-", count: 12) + "%3Cscript%3Ealert(1)%3C%2Fscript%3E.mp4"
            scene.site.publish(hostile, length: 5000)
            try await scene.play(hostile)
            try await scene.open()
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 2")
            for scheme in ["light", "dark"] {
                for width in [320, 1600] {
                    try await scene.page.call(
                        "Emulation.setDeviceMetricsOverride",
                        #"{"width":\#(width),"height":900,"deviceScaleFactor":1,"mobile":false}"#)
                    try await scene.page.call(
                        "Emulation.setEmulatedMedia",
                        #"{"features":[{"name":"prefers-color-scheme","value":"\#(scheme)"},"#
                            + #"{"name":"prefers-reduced-motion","value":"reduce"}]}"#)
                    let problems = try await scene.page.run(PageCheck.script)
                    #expect(problems.isEmpty, "\(scheme), \(width): \(problems)")
                }
            }
            #expect(try await scene.page.run("document.querySelectorAll('script').length") == "1")
        }
    }

    @Test("a stored title plays in the page without its origin") func aTitlePlays() async throws {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            let before = scene.site.origin.snapshot.requests.count
            try await scene.open()
            try await scene.tab(to: "Play film.mp4")
            try await scene.page.press("Enter")
            try await scene.page.wait(for: "document.querySelector('dialog:modal video')?.currentTime > 0.3")
            try await scene.page.press("Escape")
            try await scene.page.wait(for: "!document.querySelector('video')")
            #expect(scene.site.origin.snapshot.requests.count == before)
            #expect(scene.complaints.isEmpty, "\(scene.complaints)")
        }
    }

    @Test("a browser without the token is asked for it") func login() async throws {
        try await Site.run { site async throws in
            let tokens = try site.directory.write(Array("kids a-token-for-playing\n".utf8), to: "tokens")
            #expect(chmod(tokens, 0o600) == 0)
            let options = ["--token", "a-long-token", "--token-file", tokens]
            try await Serving.run(site.directory, options) { serving async throws in
                try await Chromium().use { page async throws in
                    for domain in ["Page", "Runtime", "Log"] { try await page.call(domain + ".enable") }
                    try await page.open("http://127.0.0.1:\(serving.port)/")
                    try await page.wait(for: "document.activeElement?.id === 'token'")
                    #expect(try await page.run(PageCheck.script).replacing("not one status", with: "").isEmpty)
                    func enter(_ token: String) async throws {
                        try await page.run(
                            """
                            document.querySelector("#token").value = "\(token)";
                            document.querySelector("#login").requestSubmit()
                            """)
                    }
                    try await enter("wrong")
                    let problem = "document.querySelector('#problem').textContent"
                    try await page.wait(for: "\(problem) === 'That is not a token of this server.'")
                    try await enter("a-token-for-playing")
                    try await page.wait(for: "\(problem).startsWith('This token is for playing.')")
                    try await enter("a-long-token")
                    let place = "location.pathname + !!document.querySelector('#url')"
                    // While the browser changes to the page, it answers nothing.
                    await eventually { (try? await page.run(place)) == "/a-long-token/true" }
                }
            }
        }
    }

    @Test("a title shows a picture from its stored bytes; nothing is fetched for it") func picture() async throws {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            scene.site.publish("/noise.mp4", length: 5000)
            try await scene.play("/noise.mp4")
            let before = scene.site.origin.snapshot.requests.count
            try await scene.open()
            let image = "document.querySelector('#titles .poster img')"
            try await scene.page.wait(for: "\(image)?.naturalWidth > 0")
            #expect(try await scene.page.run("String(document.querySelectorAll('#titles .poster img').length)") == "1")
            let path = try await scene.page.run("new URL(\(image).src).pathname + new URL(\(image).src).search")
            let answer = try await scene.serving.get(path)
            #expect(answer.head.fields["content-type"] == "image/jpeg")
            #expect(answer.body.starts(with: [0xFF, 0xD8, 0xFF]) && answer.body.count < 65_536)
            #expect(try await scene.serving.get("/-/picture?id=none").head.status == 404)
            #expect(scene.site.origin.snapshot.requests.count == before)
            #expect(scene.complaints.isEmpty, "\(scene.complaints)")
        }
    }

    @Test("other servers are named with their state") func otherServers() async throws {
        try await Site.run { site async throws in
            let directory = try TemporaryDirectory()
            defer { directory.remove() }
            try await Serving.run(directory, ["--name", "n2"]) { other async throws in
                // Nothing listens at the second one.
                let others = ["--peers", "http://127.0.0.1:\(other.port)", "--peers", "http://127.0.0.1:9"]
                try await Serving.run(site.directory, others) { serving async throws in
                    try await Chromium().use { page async throws in
                        try await page.open("http://127.0.0.1:\(serving.port)/")
                        try await page.wait(for: "document.querySelector('#peers')?.textContent.includes('n2')")
                        #expect(
                            try await page.run("document.querySelector('#peers').textContent").contains("not reached"))
                        let count = try await page.run("document.querySelector('#servers-count').textContent")
                        #expect(count == "2 of 3 reached")
                    }
                }
            }
        }
    }

    @Test("an address is kept, and a title gets a name and a tag") func keepAndName() async throws {
        try await Self.run { scene async throws in
            try await scene.page.open(scene.address)
            // The first steps name this server.
            let steps = "document.querySelector('#first-steps:not([hidden])')?.textContent"
            try await scene.page.wait(for: "\(steps)?.includes('mpv \(scene.address)https/example.com/film.mp4')")
            let field = "document.querySelector('#url')"
            try await scene.page.run("\(field).value = 'no address'; document.querySelector('#keep').click()")
            try await scene.page.wait(for: "document.querySelector('#open-problem').textContent.includes('http://')")
            let url = "http://127.0.0.1:\(scene.site.origin.port)/film.mp4"
            // The address of this server before it counts for nothing.
            let own = scene.address + url.replacing("://", with: "/")
            try await scene.page.run("\(field).value = '\(own)'; document.querySelector('#keep').click()")
            try await scene.page.wait(for: "\(field).value === ''")
            await eventually { (try? await scene.stored()) == ["film.mp4 download"] }
            try await scene.open()
            try await scene.page.run("document.querySelector('#titles .more').click()")
            try await scene.page.wait(for: "document.querySelector('#details:modal')")
            try await scene.page.run(
                """
                document.querySelector("#new-name").value = "<b>Nosferatu</b>";
                document.querySelector("#new-tag").value = "silent";
                document.querySelector("#naming").requestSubmit()
                """)
            try await scene.page.wait(for: "document.querySelector('#details-title').textContent.includes('<b>Nos')")
            let list = try await Command.run("list", scene.site.directory, ["--json"])
            #expect(list.output.contains("<b>Nosferatu") && list.output.contains("silent"))
            // An empty name is removed.
            try await scene.page.run(
                """
                document.querySelector("#new-name").value = "";
                document.querySelector("#naming").requestSubmit()
                """)
            try await scene.page.wait(for: "document.querySelector('#details-title').textContent === 'film.mp4'")
            #expect(scene.complaints.isEmpty, "\(scene.complaints)")
        }
    }

    @Test("a page of another site can do none of it") func foreignPage() async throws {
        try await Self.run { scene async throws in
            try await scene.play("/film.mp4")
            let empty = TestOrigin.Resource(.bytes(Array("<!DOCTYPE html><p>evil</p>".utf8)), mediaType: "text/html")
            scene.site.origin.set(empty, at: "/evil.html")
            try await scene.page.open("http://localhost:\(scene.site.origin.port)/evil.html")
            try await scene.page.wait(for: "document.body?.textContent === 'evil'")
            let list = try await scene.serving.get("/-/titles.json").body
            let object = try JSONSerialization.jsonObject(with: Data(list)) as? [String: Any]
            let title = try #require((object?["titles"] as? [[String: Any]])?.first)
            let body = #"{"urls":["id:\#(title["id"] ?? "")"]}"#
            for type in ["application/json", "text/plain"] {
                let outcome = try await scene.page.run(
                    """
                    fetch("\(scene.address)-/api/remove", {
                        method: "POST", mode: "\(type == "text/plain" ? "no-cors" : "cors")", body: '\(body)',
                        headers: { "Content-Type": "\(type)" } })
                        .then(answer => answer.type + answer.status, () => "failed")
                    """)
                // An opaque answer is one that the page cannot read: a refusal.
                #expect(["failed", "opaque0"].contains(outcome))
            }
            let read = try await scene.page.run(
                "Promise.all(['', '-/titles.json', '-/status.json'].map(path => fetch('\(scene.address)' + path)"
                    + ".then(() => 'read', () => 'failed'))).then(list => list.join())")
            #expect(read == "failed,failed,failed")
            let framed = try await scene.page.run(
                """
                new Promise(done => {
                    const frame = document.createElement("iframe");
                    frame.onload = () => {
                        try { done(String(frame.contentDocument?.title)) } catch { done("closed") }
                    };
                    frame.src = "\(scene.address)";
                    document.body.append(frame);
                })
                """)
            #expect(framed != "Reprise")
            #expect(try await scene.stored() == ["film.mp4 "])
        }
    }
}
