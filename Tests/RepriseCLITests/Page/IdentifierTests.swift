import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Operations for titles whose URLs the client does not know.
@Suite(.limit(minutes: 2)) struct IdentifierTests {
    private struct Titles: Decodable {
        struct Title: Decodable { let id: String }

        let titles: [Title]
    }

    private struct Status: Decodable {
        struct Download: Decodable { let id, state: String }

        let downloads: [Download]
    }

    private static func downloads(_ serving: Serving) async throws -> [Status.Download] {
        let answer = try await serving.get("/-/status.json")
        return try JSONDecoder().decode(Status.self, from: Data(answer.body)).downloads
    }

    @Test("an identifier stands for a URL with a query that nothing tells", arguments: [false, true])
    func operations(isSealed: Bool) async throws {
        let key = isSealed ? ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)] : [:]
        try await Site.run { site async throws in
            site.publish("/film.mp4?signature=secret", length: 1000)
            site.publish("/other.mp4", length: 1000)
            try await Serving.run(site.directory, environment: key) { serving async throws in
                #expect(try await serving.get(site.target("/other.mp4")).head.status == 200)
                #expect(try await serving.get(site.target("/film.mp4?signature=secret")).head.status == 200)
                let answer = try await serving.get("/-/titles.json?search=film")
                let titles = try JSONDecoder().decode(Titles.self, from: Data(answer.body)).titles
                let id = try #require(titles.first?.id)
                func kept() async throws -> [String] {
                    let list = try await Command.run("list", site.directory, ["--json"], environment: key)
                    return try Command.json(Entry.self, list).map { "\($0.url.hasSuffix("secret")) \($0.kept ?? "")" }
                        .sorted()
                }
                let pin = try await serving.post("pin", #"{"url":"id:\#(id)"}"#)
                #expect(pin.status == 200 && !pin.line.contains("secret"), "\(pin)")
                #expect(try await kept() == ["false ", "true pinned"])
                let unpin = try await serving.post("unpin", #"{"urls":["id:\#(id)"]}"#)
                #expect(unpin.status == 200, "\(unpin)")
                #expect(try await kept() == ["false ", "true "])
                let paused = try await serving.post("downloads", #"{"pause":["id:\#(id)"],"resume":[]}"#)
                #expect(paused.status == 404, "it is no download: \(paused)")
                let removed = try await serving.post("remove", #"{"urls":["id:\#(id)"]}"#)
                #expect(removed.status == 200 && removed.line.contains(#""entries":1"#), "\(removed)")
                #expect(try await kept() == ["false "])
                for operation in ["unpin", "remove"] {
                    let again = try await serving.post(operation, #"{"urls":["id:\#(id)"]}"#)
                    #expect(again.status == 404 && again.line.contains("identifier"), "\(again)")
                }
            }
        }
    }

    @Test("a download is paused and resumed by its identifier") func downloads() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 3_000_000)
            site.origin.hold("/film.mp4", at: 1_000_000)
            let child = try ChildProcess(
                Command.path, ["download", "--cache-dir", site.directory.path, site.origin.url("/film.mp4")],
                environment: Command.environment())
            await site.origin.waitUntil { $0["/film.mp4"].bodyBytesSent >= 1_000_000 }
            child.send(SIGTERM)
            #expect(await child.outcome().exit == .signal(SIGTERM))
            try await Serving.run(site.directory) { serving async throws in
                let id = try #require(try await Self.downloads(serving).first).id
                for (verb, other) in [("pause", "resume"), ("resume", "pause")] {
                    let body = #"{"\#(verb)":["id:\#(id)"],"\#(other)":[]}"#
                    let answer = try await serving.post("downloads", body)
                    #expect(answer.status == 200, "\(answer)")
                    let states = try await Self.downloads(serving).map(\.state)
                    #expect((states == ["paused"]) == (verb == "pause"))
                }
            }
        }
    }

    @Test("what a client has changed is in the next list") func changes() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            try await Serving.run(site.directory) { serving async throws in
                #expect(try await serving.get(site.target("/film.mp4")).head.status == 200)
                func found(_ text: String) async throws -> Int {
                    let list = try await serving.get("/-/titles.json?search=" + text).body
                    return String(decoding: list, as: UTF8.self).components(separatedBy: "\"id\"").count - 1
                }
                #expect(try await found("film") == 1)
                let url = site.origin.url("/film.mp4")
                let body = #"{"url":"\#(url)","title":"Nosferatu"}"#
                let answer = try await serving.post("title", body)
                #expect(answer.status == 200, "\(answer)")
                #expect(try await found("nosferatu") == 1)
            }
        }
    }

    @Test("serve says where its page is, unless it has none") func address() async throws {
        try await Site.run { site async throws in
            for (options, path) in [([], "/"), (["--token", "t"], "/t/"), (["--no-page"], nil)] as [([String], String?)]
            {
                try await Serving.run(site.directory, options) { serving async throws in
                    // Only a terminal shows tokens.
                    let shown = path == "/" ? "/" : "/***/"
                    let line = "Page for a browser: http://127.0.0.1:\(serving.port)\(shown)\n"
                    if path != nil { await serving.child.output.wait { $0.contains(line) } }
                    #expect(serving.child.output.text.contains(line) == (path != nil))
                    let target = path ?? "/"
                    let page = try await serving.get(target, ["Accept: text/html"])
                    #expect((page.head.fields["content-type"]?.hasPrefix("text/html") == true) == (path != nil))
                }
            }
        }
    }
}
