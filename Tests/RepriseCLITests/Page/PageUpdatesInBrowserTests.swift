import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// How the page of `reprise serve` follows what changes, in a real browser whose clock and events the test drives.
@Suite(
    .serialized, .limit(minutes: 5),
    .enabled(if: Chromium.path != nil, "chromium is not installed; scripts/bootstrap test installs it"))
struct PageUpdatesInBrowserTests {
    private struct Scene {
        let site: Site
        let serving: Serving
        let page: DevTools

        func open() async throws {
            try await page.open("http://127.0.0.1:\(serving.port)/")
            try await page.wait(for: "document.querySelector('#titles button')")
        }

        /// Gives the page the status of a minute later, as the server sends it.
        func advance() async throws {
            try await page.run("driven.advance()")
        }

        /// Performs an operation from within the page, as another page of the same server would.
        func perform(_ operation: String, _ body: String) async throws {
            let status = try await page.run(
                """
                driven.fetch("/-/api/\(operation)", { method: "POST", referrerPolicy: "same-origin",
                    headers: { "Content-Type": "application/json" }, body: '\(body)' })
                    .then(answer => answer.text()).then(text => text.includes('"outcome"') ? "done" : text)
                """)
            #expect(status == "done")
        }
    }

    /// Runs before the page's script: events come from the test, requests are noted and can be held.
    private static let driver = #"""
        (() => {
        const driven = window.driven = { asked: [], held: [], timers: [], holds: "", shift: 0, isAway: false };
        driven.fetch = window.fetch.bind(window);
        window.fetch = (url, options = {}) => {
            driven.asked.push(String(url));
            if (!driven.holds || !String(url).includes(driven.holds)) return driven.fetch(url, options);
            return new Promise((done, fail) => {
                options.signal?.addEventListener("abort", () => fail(new DOMException("", "AbortError")));
                driven.held.push(() => driven.fetch(url).then(done, fail));
            });
        };
        window.EventSource = class {
            constructor() { driven.source = this }
            addEventListener(name, listener) { this.listener = listener }
            close() {}
        };
        const now = Date.now;
        Date.now = () => now() + driven.shift;
        const wait = window.setTimeout;
        window.setTimeout = (action, delay) => { driven.timers.push(action.name); return wait(action, delay) };
        Object.defineProperty(document, "hidden", { get: () => driven.isAway });
        driven.count = text => driven.asked.filter(url => url.includes(text)).length;
        driven.advance = async () => {
            driven.shift += 60000;
            driven.source.listener({ data: await (await driven.fetch("/-/status.json")).text() });
        };
        driven.settle = () => new Promise(done => wait(done, 0));
        })();
        """#

    private static func run(_ body: (Scene) async throws -> Void) async throws {
        let script = String(decoding: try JSONEncoder().encode(driver), as: UTF8.self)
        try await Site.run { site async throws in
            try await Serving.run(site.directory) { serving async throws in
                try await Chromium().use { page async throws in
                    for domain in ["Page", "Runtime"] { try await page.call(domain + ".enable") }
                    try await page.call("Page.addScriptToEvaluateOnNewDocument", #"{"source":\#(script)}"#)
                    try await body(Scene(site: site, serving: serving, page: page))
                }
            }
        }
    }

    private static func focused(_ text: String) -> String { "document.activeElement.textContent === '\(text)'" }

    @Test("a title that goes takes no focus from another; names and sizes are those of now") func lists() async throws {
        try await Self.run { scene async throws in
            for name in ["/kept.mp4", "/gone.mp4"] { scene.site.publish(name, length: 70_000) }
            let first = ["Range: bytes=0-999"]
            #expect(try await scene.serving.get(scene.site.target("/kept.mp4"), first).head.status == 206)
            #expect(try await scene.serving.get(scene.site.target("/gone.mp4")).head.status == 200)
            try await scene.open()
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 2")
            try await scene.page.run(
                """
                const button = [...document.querySelectorAll("#titles button")]
                    .find(button => button.textContent === "Pin kept.mp4");
                button.focus();
                window.blurs = 0;
                button.onblur = () => ++blurs;
                """)
            let url = "http://127.0.0.1:\(scene.site.origin.port)"
            try await scene.perform("remove", #"{"urls":["\#(url)/gone.mp4"]}"#)
            try await scene.advance()
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 1")
            let outcome = try await scene.page.run("document.activeElement.textContent + ' ' + blurs")
            #expect(outcome == "Pin kept.mp4 0")
            // More is stored, and it gets a name.
            #expect(try await scene.serving.get(scene.site.target("/kept.mp4")).head.status == 200)
            try await scene.perform("title", #"{"url":"\#(url)/kept.mp4","title":"My film"}"#)
            try await scene.advance()
            try await scene.page.wait(for: Self.focused("Pin My film"))
            #expect(try await scene.page.run("document.querySelector('#titles .name').textContent") == "My film")
            try await scene.page.run("document.querySelector('#titles .more').click()")
            try await scene.page.wait(for: "document.querySelector('#details .danger')")
            try await scene.page.run("document.querySelector('#details .danger').click()")
            try await scene.page.wait(for: "document.querySelector('#ask:modal')")
            let text = try await scene.page.run("document.querySelector('#ask-text').textContent")
            #expect(text.hasPrefix("70.0 kB are removed"), "\(text)")
        }
    }

    @Test("a page that is not looked at asks for nothing, not even after an answer that was late") func hidden()
        async throws
    {
        try await Self.run { scene async throws in
            scene.site.publish("/a.mp4", length: 1000)
            #expect(try await scene.serving.get(scene.site.target("/a.mp4")).head.status == 200)
            try await scene.open()
            try await scene.page.run("driven.holds = 'status.json'; void driven.source.onerror()")
            try await scene.page.wait(for: "driven.held.length === 1")
            try await scene.page.run(
                """
                driven.isAway = true;
                document.dispatchEvent(new Event("visibilitychange"));
                driven.timers = [];
                driven.held[0]().then(driven.settle).then(driven.settle)
                """)
            #expect(try await scene.page.run("driven.timers.filter(name => name === 'poll').length") == "0")
            #expect(try await scene.page.run("driven.count('status.json')") == "1")
        }
    }

    @Test("more titles that are asked for come, and a search is not begun again by itself") func places() async throws {
        try await Self.run { scene async throws in
            for number in 0..<60 {
                scene.site.publish("/\(number).mp4", length: 100)
                #expect(try await scene.serving.get(scene.site.target("/\(number).mp4")).head.status == 200)
            }
            try await scene.open()
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 50")
            try await scene.page.run(
                "driven.holds = 'titles.json'; document.querySelector('#more').click()")
            try await scene.page.wait(for: "driven.held.length === 1")
            try await scene.advance()
            try await scene.page.run("driven.holds = ''; driven.held[0]()")
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 60")
            try await scene.page.run(
                """
                const field = document.querySelector("#search");
                field.value = "mp4";
                field.dispatchEvent(new Event("input"))
                """)
            try await scene.page.wait(for: "driven.count('search=mp4') === 1")
            try await scene.page.wait(for: "document.querySelectorAll('#titles li').length === 50")
            try await scene.advance()
            try await scene.page.run("driven.settle()")
            #expect(try await scene.page.run("driven.count('search=mp4')") == "1")
        }
    }
    @Test("a search shows that it is under way, and what it found") func searching() async throws {
        try await Self.run { scene async throws in
            scene.site.publish("/film.mp4", length: 100)
            #expect(try await scene.serving.get(scene.site.target("/film.mp4")).head.status == 200)
            try await scene.open()
            let words = "document.querySelector('#no-titles:not([hidden])')?.textContent"
            let outcomes = [("film", "undefined"), ("nothing", "No title has these words."), ("fil", "undefined")]
            for (text, outcome) in outcomes {
                try await scene.page.run(
                    """
                    driven.holds = "search=\(text)";
                    driven.held = [];
                    document.querySelector("#search").value = "\(text)";
                    document.querySelector("#search").dispatchEvent(new Event("input"))
                    """)
                try await scene.page.wait(for: "driven.held.length === 1")
                // What was found before stays until then.
                #expect(try await scene.page.run("String(\(words))") == (text == "fil" ? "Searching…" : "undefined"))
                #expect(try await scene.page.run("document.querySelector('#titles').ariaBusy") == "true")
                try await scene.page.run("driven.holds = ''; driven.held[0]()")
                try await scene.page.wait(for: "document.querySelector('#titles').ariaBusy === 'false'")
                #expect(try await scene.page.run("String(\(words))") == outcome)
            }
        }
    }

    @Test("the outcome of an action is told although the list fails after it") func outcomes() async throws {
        try await Self.run { scene async throws in
            scene.site.publish("/film.mp4", length: 100)
            #expect(try await scene.serving.get(scene.site.target("/film.mp4")).head.status == 200)
            try await scene.open()
            try await scene.page.run(
                """
                const follow = window.fetch;
                window.fetch = (url, options) => String(url).includes("titles.json")
                    ? Promise.reject(new Error("no list")) : follow(url, options);
                window.told = [];
                new MutationObserver(() => told.push(document.querySelector("#status").textContent))
                    .observe(document.querySelector("#status"), { childList: true });
                [...document.querySelectorAll("#titles button")]
                    .find(button => button.textContent.startsWith("Pin")).click()
                """)
            try await scene.page.wait(for: "told.length > 0")
            #expect(try await scene.page.run("told[0]").contains("film.mp4"))
        }
    }
}
