import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `play`, with scripts in place of players.
@Suite(.limit(minutes: 3)) struct PlayTests {
    /// A player of bash: notes its arguments, fetches the last one, and ends with a code.
    private struct FakePlayer {
        let directory: TemporaryDirectory
        var path: String { directory.path + "/mpv" }
        private var notes: String { directory.path + "/notes" }

        /// `ending` is what it does at last.
        init(name: String = "mpv", ending: String = "exit 0") async throws {
            directory = try TemporaryDirectory()
            let script = """
                #!/bin/bash
                for last; do :; done
                printf '%s\\n' "$@" > "$(dirname "$0")/notes"
                if [ "${last#https://}" != "$last" ]
                then curl --silent --cacert "$CERTIFICATE" --output "$(dirname "$0")/answer" "$last" || exit 9
                else
                hostport=${last#http://}; hostport=${hostport%%/*}
                exec 3<>"/dev/tcp/${hostport%:*}/${hostport#*:}"
                printf 'GET /%s HTTP/1.1\\r\\nHost: %s\\r\\nConnection: close\\r\\n\\r\\n' "${last#http://*/}" "$hostport" >&3
                cat <&3 > "$(dirname "$0")/answer"
                fi
                \(ending)
                """
            _ = try await directory.writeProgram(script, to: name)
        }

        var arguments: [String] {
            get throws { try String(contentsOfFile: notes, encoding: .utf8).split(separator: "\n").map(String.init) }
        }

        var answer: Data { get throws { try Data(contentsOf: URL(fileURLWithPath: directory.path + "/answer")) } }

        /// PATH with this player in front.
        var searchPath: [String: String] { ["PATH": directory.path + ":/usr/bin:/bin"] }
    }

    @Test func aFilmIsPlayedAndStored() async throws {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4?sig=%2Fa+b")
            let played = try await Command.run(
                "play", site.directory, [url, "--", "--fullscreen", "--volume=3"], environment: player.searchPath)
            #expect(played.exit == .status(0), "\(played)")
            #expect(played.output == "", "the output is the player's")
            #expect(played.errors.hasSuffix("reprise: 100 kB played, 0 B of it from the cache.\n"), "\(played)")
            let arguments = try player.arguments
            #expect(arguments.dropLast() == ["--fullscreen", "--volume=3"])
            let target = try #require(arguments.last)
            #expect(target.hasSuffix("/http/127.0.0.1:\(site.origin.port)/film.mp4?sig=%2Fa+b"))
            #expect(target.hasPrefix("http://127.0.0.1:"))
            #expect(try player.answer.count > 100_000)
            let again = try await Command.run("play", site.directory, [url], environment: player.searchPath)
            #expect(again.errors.hasSuffix("reprise: 100 kB played, 100 kB of it from the cache.\n"), "\(again)")
            #expect(site.origin.snapshot.requestCount == 1)
        }
    }

    @Test("With --offline, stale bytes play and the origin is not asked") func offline() async throws {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.publish("/film.mp4", length: 100_000, fields: [.cacheControl: "max-age=0"])
            let url = site.origin.url("/film.mp4")
            #expect(try await Command.run("fetch", site.directory, [url]).exit == .status(0))
            let before = await site.origin.settledSnapshot().requestCount
            let played = try await Command.run(
                "play", site.directory, ["--offline", url], environment: player.searchPath)
            #expect(played.exit == .status(0), "\(played)")
            #expect(played.errors.hasSuffix("reprise: 100 kB played, 100 kB of it from the cache.\n"), "\(played)")
            let missing = try await Command.run(
                "play", site.directory, [site.origin.url("/other.mp4")],
                environment: player.searchPath.merging(["REPRISE_OFFLINE": "yes"]) { $1 })
            #expect(missing.errors.hasSuffix("reprise: 0 B played, 0 B of it from the cache.\n"), "\(missing)")
            #expect(await site.origin.settledSnapshot().requestCount == before)
            try await Serving.run(site.directory) { _ async throws in
                let beside = try await Command.run(
                    "play", site.directory, ["--offline", url], environment: player.searchPath)
                #expect(beside.exit == .status(64) && beside.errors.contains("leave --offline out"), "\(beside)")
            }
        }
    }

    @Test func whyNothingPlayedIsReported() async throws {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            let url = site.origin.url("/none.mp4")
            let outcome = try await Command.run("play", site.directory, [url], environment: player.searchPath)
            #expect(outcome.errors.contains(/reprise: .*404.*\nreprise: 0 B played/), "\(outcome)")
        }
    }

    @Test("Where the rest of a film cannot be fetched, and where it finds no room, play says so") func incomplete()
        async throws
    {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.origin.set(
                TestOrigin.Resource(
                    .pattern(seed: 1, length: 3_000_000),
                    override: { _, number in
                        number > 1 ? .failing(with: 403) : TestOrigin.Personality { $0.truncateAfter = 1 << 20 }
                    }), at: "/film.mp4")
            let url = site.origin.url("/film.mp4")
            let cut = try await Command.run("play", site.directory, [url], environment: player.searchPath)
            #expect(
                cut.errors.contains(#/reprise: Not everything could be played\. .*403.*\nreprise: 1\.05 MB/#), "\(cut)")
            let offline = try await Command.run(
                "play", site.directory, ["--offline", url], environment: player.searchPath)
            #expect(offline.errors.contains(#/reprise: .* is not stored in full.*\nreprise: 0 B played/#), "\(offline)")
            site.publish("/large.mp4", length: 3_000_000)
            let large = try await Command.run(
                "play", site.directory, ["--limit", "2MB", site.origin.url("/large.mp4")],
                environment: player.searchPath)
            #expect(large.errors.contains(#/3\.00 MB played, .*\nreprise: Not everything was stored\. /#), "\(large)")
        }
    }

    @Test func theExitCodeIsThePlayers() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            for (ending, code) in [("exit 7", Int32(7)), ("kill -9 $$", 137)] {
                let player = try await FakePlayer(name: "odd player", ending: ending)
                defer { player.directory.remove() }
                let outcome = try await Command.run(
                    "play", site.directory,
                    ["--player", player.directory.path + "/odd player", site.origin.url("/film.mp4")])
                #expect(outcome.exit == .status(code), "\(outcome)")
            }
        }
    }

    @Test("vlc and ffplay end with the film", arguments: [("vlc", "--play-and-exit"), ("ffplay", "-autoexit")])
    func playersAreToldToEnd(name: String, option: String) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let player = try await FakePlayer(name: name)
            defer { player.directory.remove() }
            // Without the system's directories nothing else is found, and bash has to be named.
            let outcome = try await Command.run(
                "play", site.directory, ["--player", name, site.origin.url("/film.mp4"), "--", "-x"],
                environment: player.searchPath)
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(try player.arguments.dropLast() == [option, "-x"])
        }
    }

    @Test func whereThereIsNoPlayerNothingIsDone() async throws {
        let (directory, empty) = (try TemporaryDirectory(), try TemporaryDirectory())
        defer { for place in [directory, empty] { place.remove() } }
        let none = try await Command.run(
            "play", directory, ["https://example.com/film.mp4"], environment: ["PATH": empty.path])
        #expect(none.exit == .status(127))
        #expect(none.errors.contains("None of mpv, vlc, ffplay is installed."))
        let named = try await Command.run(
            "play", directory, ["--player", "no-such-player", "https://example.com/film.mp4"])
        #expect(named.exit == .status(127))
        #expect(named.errors.contains("no-such-player"))
        let wrong = try await Command.run("play", directory, ["film.mp4"])
        #expect(wrong.exit == .status(64))
    }

    @Test("Downloads in the queue do not compete with the player") func downloadsWait() async throws {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.publish("/film.mp4", length: 100_000)
            site.publish("/other.mp4", length: 100_000)
            site.origin.holdHeads("/other.mp4")
            let download = try ChildProcess(
                Command.path, ["download", "--cache-dir", site.directory.path, site.origin.url("/other.mp4")],
                environment: Command.environment())
            await site.origin.waitUntil { $0["/other.mp4"].requestCount == 1 }
            download.send(SIGTERM)
            _ = await download.outcome()
            let played = try await Command.run(
                "play", site.directory, [site.origin.url("/film.mp4")], environment: player.searchPath)
            #expect(played.exit == .status(0), "\(played)")
            #expect(await site.origin.settledSnapshot()["/other.mp4"].requestCount == 1)
            site.origin.release("/other.mp4")
            let rest = try await Command.run("download", site.directory, ["--queued"])
            #expect(rest.exit == .status(0) && rest.output.contains("Downloaded: "), "\(rest)")
            let none = try await Command.run("download", site.directory, ["--queued"])
            #expect(
                none.output == "There is nothing to continue. To begin a download: reprise download URL\n", "\(none)")
        }
    }

    @Test func theServerThatHasTheCacheIsUsed() async throws {
        try await Site.run { site async throws in
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            try await Serving.run(site.directory, ["--token", "secret"]) { serving async throws in
                let port = ["--port", "\(serving.port)"]
                let played = try await Command.run(
                    "play", site.directory, port + ["--token", "secret", url], environment: player.searchPath)
                #expect(played.exit == .status(0), "\(played)")
                let target = try #require(try player.arguments.last)
                #expect(target.hasPrefix("http://127.0.0.1:\(serving.port)/secret/http/"))
                #expect(try player.answer.count > 100_000)
                let without = try await Command.run(
                    "play", site.directory, port + [url], environment: player.searchPath)
                #expect(without.exit == .status(75))
                #expect(without.errors.contains("--token"))
                // A port at which something else answers.
                let other = try await Command.run(
                    "play", site.directory, ["--port", "\(site.origin.port)", url], environment: player.searchPath)
                #expect(other.exit == .status(75))
                #expect(other.errors.contains("--port"))
            }
        }
    }

    @Test(
        "The server that has the cache says where it listens, and may speak TLS",
        arguments: ["IP:127.0.0.1", "DNS:localhost"])
    func theServerSpeaksTLS(name: String) async throws {
        guard ChildProcess.path(of: "openssl") != nil, ChildProcess.path(of: "curl") != nil else {
            return print("skipped: openssl or curl is not installed")
        }
        try await Site.run { site async throws in
            let folder = try TemporaryDirectory()
            defer { folder.remove() }
            let (certificate, key) = (folder.path(of: "cert.pem"), folder.path(of: "key.pem"))
            let made = try await ChildProcess.run(
                "/usr/bin/env",
                ["openssl", "req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=Reprise test", "-newkey", "ec"]
                    + ["-pkeyopt", "ec_paramgen_curve:prime256v1", "-addext", "subjectAltName=\(name)"]
                    + ["-keyout", key, "-out", certificate])
            try #require(made.exit == .status(0), "\(made)")
            try #require(chmod(key, 0o600) == 0)
            let player = try await FakePlayer()
            defer { player.directory.remove() }
            site.publish("/film.mp4", length: 100_000)
            let url = site.origin.url("/film.mp4")
            let options = ["--tls-certificate", certificate, "--tls-key", key, "--token", "secret"]
            try await Serving.run(site.directory, options) { serving async throws in
                let environment = player.searchPath.merging(["CERTIFICATE": certificate]) { $1 }
                let played = try await Command.run(
                    "play", site.directory, ["--token", "secret", url], environment: environment)
                #expect(played.exit == .status(0), "\(played)")
                let host = name.split(separator: ":").last ?? ""
                let target = try #require(try player.arguments.last)
                #expect(target.hasPrefix("https://\(host):\(serving.port)/secret/http/"))
                #expect(try player.answer == Data(TestPattern.bytes(in: 0..<100_000, seed: 1)))
                let without = try await Command.run("play", site.directory, [url], environment: environment)
                #expect(without.exit == .status(75))
                #expect(without.errors.contains("--token"))
            }
        }
    }

    @Test("A signal ends the player, then play", arguments: [SIGINT, SIGTERM])
    func aSignalEndsThePlayer(signal: Int32) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let player = try await FakePlayer(
                ending: "mkfifo \"$0.fifo\"; exec 4<>\"$0.fifo\"; echo playing; read -r <&4")
            defer { player.directory.remove() }
            let child = try ChildProcess(
                try Command.path, ["play", "--cache-dir", site.directory.path, site.origin.url("/film.mp4")],
                environment: Command.environment(player.searchPath))
            _ = await child.output.wait { $0.contains("playing") }
            child.send(signal)
            #expect(await child.outcome().exit == .signal(signal))
            let after = try await Command.run("list", site.directory)
            #expect(after.output.contains("100 %"), "the cache was closed in good order")
        }
    }
}
