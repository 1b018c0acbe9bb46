import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Runs the commands of README and docs as printed, and compares their output with the printed one.
///
/// Exchanged are only addresses (of the origin and of the server) and the folder of the access log. Numbers, bars and
/// the home directory may differ from what is printed.
@Suite(
    .limit(minutes: 5),
    .enabled(if: StreamMedia.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct DocumentedCommandsTests {
    private static let documents = [
        "README.md", "docs/access-log.md", "docs/command.md", "docs/configuration.md", "docs/control.md",
        "docs/first-seconds.md", "docs/install.md", "docs/metrics.md", "docs/page.md",
    ]

    /// Reasons why commands cannot run here, by the beginnings of the commands.
    private static let notRun = [
        "apt install": "needs a package and root; scripts/check-package",
        "ldd": "needs the package",
        "brew": "needs macOS",
        "podman": "needs images; scripts/check-deploy",
        "scripts/": "builds or tests all; only its script is looked up",
        "reprise fetch http://127.0.0.1:18781/": "needs Ctrl-C; InterruptionTests",
        "reprise fetch --while": "depends on the hour; DownloadOptionsTests",
        "reprise remove --host": "needs titles of last month; RemovalRulesTests",
        "reprise downloads": "needs downloads that wait and fail; DownloadsTests",
    ]

    /// Shell commands that prepare a block, by the beginning of its first command and the output of that command.
    private static let before = [
        "reprise show http://127.0.0.1:18777/film.mp4":
            "reprise remove --all; reprise fetch --first 10s http://127.0.0.1:18777/film.mp4",
        "reprise show https://example.com/film.mp4": "reprise fetch https://example.com/film.mp4",
        "reprise show http://127.0.0.1:18777/show": "reprise download http://127.0.0.1:18777/show/master.m3u8",
        "reprise fetch --limit": "rm -f film.mp4",
        "reprise fetch --config": """
        printf '%s\\n' '[host 127.0.0.1]' 's3-region = eu-central-1' 's3-credentials-file = keys' > reprise.conf
        printf '%s\\n' '[default]' 'aws_access_key_id = AKID' 'aws_secret_access_key = secret' > keys
        chmod 600 keys
        """,
        "reprise fetch --first": "reprise remove --all",
        "reprise list\n   961 kB  100 %  http://127.0.0.1:18777/song.mp3\n": """
        reprise remove --all
        reprise fetch http://127.0.0.1:18777/{song.mp3,film.mp4,show/master.m3u8}
        reprise title http://127.0.0.1:18777/show/master.m3u8 --name Pilot --tag show
        """,
        "reprise list\n   961 kB  100 %  http://127.0.0.1:18777/song.mp3  [pinned]": """
        reprise remove --all
        reprise fetch http://127.0.0.1:18777/song.mp3
        reprise pin http://127.0.0.1:18777/song.mp3
        reprise pin --for 30d http://127.0.0.1:18777/fil.mp4
        """,
        "reprise remove http": """
        reprise remove --all
        reprise download http://127.0.0.1:18777/{show/master.m3u8,film.mp4}
        """,
        "reprise title": "reprise fetch http://127.0.0.1:18777/show/master.m3u8",
        "reprise limit": """
        reprise fetch http://127.0.0.1:18777/song.mp3
        reprise title http://127.0.0.1:18777/song.mp3 --tag news
        """,
        "reprise pin --first": "reprise remove --all; reprise fetch --first 10s http://127.0.0.1:18777/film.mp4",
        "curl -s -D-": "curl -s -o /dev/null http://127.0.0.1:18090/http/127.0.0.1:18777/thousand.bin",
        "REPRISE_LIMIT":
            "printf '%s\\n' '' 'token = long-text' '' '[host media.example.com]' 'connections = 4' > reprise.conf",
        "reprise serve --config": "printf '%s\\n' '' '' 'prot = 1' > reprise.conf",
        "reprise log-level debug": "reprise log-level notice",
    ]
    /// Shell commands in the middle of a block, by the beginning of the next command.
    private static let between = [
        "tail -1 /var/log": """
        for time in 1 2; do
          curl -s -o /dev/null -r 0-999 -A 'mpv 0.38.0' http://127.0.0.1:18090/https/example.com/film.mp4
        done
        # A line is written after its answer.
        until grep -q 'reprise; hit' /var/log/reprise/access.log; do sleep 0.05; done
        """
    ]

    private struct Step {
        let place: String
        let command: String
        var printed: [String] = []
        var status: Int32?
    }

    private struct Block { var steps: [Step] = [] }

    /// The blocks of commands in a document: those of the language `sh`, those with lines that begin with `$`, those
    /// with `curl` or `reprise` at the beginning.
    private static func blocks(of document: String) throws -> [Block] {
        let file = URL(filePath: #filePath).appending(path: "../../../\(document)").standardized
        let lines = try String(contentsOf: file, encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false)
        var blocks: [Block] = []
        var number = 0
        while number < lines.count {
            defer { number += 1 }
            guard lines[number].hasPrefix("```") else { continue }
            let (first, language) = (number + 1, lines[number].dropFirst(3))
            let end = try #require(lines[first...].firstIndex { $0.hasPrefix("```") }, "\(document):\(first)")
            number = end
            let body = lines[first..<end]
            let isTranscript = body.contains { $0.hasPrefix("$ ") }
            guard language == "sh" || language == "console" || language.isEmpty,
                isTranscript || language == "sh"
                    || ["curl ", "reprise "].contains(where: { body.first?.hasPrefix($0) == true })
            else { continue }
            var block = Block()
            for (offset, line) in zip(body.indices, body) where !line.isEmpty {
                let last = block.steps.count - 1
                if last >= 0, block.steps[last].printed.isEmpty, block.steps[last].command.hasSuffix("\\") {
                    let step = block.steps[last]
                    block.steps[last] = Step(place: step.place, command: String(step.command.dropLast()) + String(line))
                } else if line == "$ echo $?" {
                    block.steps[last].status = Int32(body[offset + 1])
                } else if isTranscript, !line.hasPrefix("$ ") {
                    if block.steps[last].status == nil { block.steps[last].printed.append(String(line)) }
                } else {
                    let command = String(isTranscript ? line.dropFirst(2) : line)
                    block.steps.append(Step(place: "\(document):\(offset + 1)", command: command))
                }
            }
            blocks.append(block)
        }
        return blocks
    }

    /// A line without the parts that differ from run to run.
    private static func shape(_ line: String, home: String) -> String {
        line.replacing(home, with: "/home/me")
            .replacing(#/\[[^\]\[]*[█▓▒░·═][^\]\[]*\]/#, with: "[]")
            .replacing(/"[0-9a-f]+-[0-9a-f]+(\\?)"/) { "\"0\($0.1)\"" }
            .replacing("\"v1\"", with: "\"1\"")
            .replacing(/(Mon|Tue|Wed|Thu|Fri|Sat|Sun), \d\d \w\w\w/, with: "Day")
            .replacing(/\d+([.,:]\d+)*/, with: "0").replacing(/0 (kB|MB|GB)/, with: "0 B")
            .replacing(/0 files?/, with: "0 files").replacing(/0 titles?/, with: "0 titles")
            .replacing(#/ +/#, with: " ")
            .trimmingCharacters(in: .whitespaces)
    }

    /// A home with an origin that has the files of the documents, and a server if a block needs one.
    private final class Scene {
        let site: Site
        let home: String
        private let environment: [String: String]
        private var server: (child: ChildProcess, port: String)?

        init(_ site: Site) throws {
            self.site = site
            home = site.directory.path
            for folder in ["work", "bin", "log"] {
                try FileManager.default.createDirectory(atPath: home + "/" + folder, withIntermediateDirectories: true)
            }
            try FileManager.default.createSymbolicLink(
                atPath: home + "/bin/reprise", withDestinationPath: try Command.path)
            let path = home + "/bin:" + (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin")
            environment = Command.environment(["HOME": home, "PATH": path])
                .filter { !$0.key.hasPrefix("XDG_") }
        }

        /// `command` with the addresses of this scene.
        func translated(_ command: String) -> String {
            let origin = "127.0.0.1:\(site.origin.port)"
            return command.replacing(/127\.0\.0\.1:187\d\d/, with: origin)
                .replacing(/https(:\/\/|\/)(media\.)?example\.com/) { "http\($0.1)\(origin)" }
                .replacing(/--port \d+/, with: "--port 0")
                .replacing(/127\.0\.0\.1:(18090|8090)/, with: "127.0.0.1:\(server?.port ?? "9")")
                .replacing("/var/log/reprise", with: home + "/log")
        }

        func run(_ command: String) async throws -> ChildProcess.Outcome {
            let place = server.map { ["REPRISE_PORT": $0.port] } ?? [:]
            return try await ChildProcess.run(
                "/bin/bash", ["-c", "cd ~/work\n" + translated(command)],
                environment: environment.merging(command.contains("health") ? place : [:]) { $1 })
        }

        /// Starts a server with the command that a document shows; returns what it prints.
        func serve(_ command: String) async throws -> String {
            await stop()
            let child = try ChildProcess(
                "/bin/bash", ["-c", "cd ~/work; exec " + translated(command)],
                environment: environment.merging(["REPRISE_PORT": "0"]) { $1 })
            let text = await child.output.wait { $0.contains("/film.mp4\n") }
            let port = try #require(
                text.firstMatch(of: /listening on http:\/\/127\.0\.0\.1:(\d+)/), "\(child.errors.text)")
            server = (child, String(port.1))
            return text
        }

        func serveIfNeeded() async throws { if server == nil { _ = try await serve("reprise serve --port 0") } }

        func stop() async {
            guard let child = server?.child else { return }
            child.send(SIGTERM)
            _ = await child.outcome()
            server = nil
        }
    }

    /// A film and a stream, by path.
    private static let media = Task {
        let directory = try TemporaryDirectory(prefix: "reprise-documents")
        defer { directory.remove() }
        let script = """
            cd "$1"
            film() { "$0" -v error -nostdin -f lavfi -i testsrc2=size=640x360:rate=10:duration=15 \
              -f lavfi -i anoisesrc=duration=15 -c:v libx264 -preset ultrafast -g 10 -pix_fmt yuv420p -c:a aac "$@"; }
            film -map 0:v -map 1:a -b:v 1500k -movflags +faststart film.mp4
            mkdir show
            film -map 0:v -map 0:v -map 1:a -map 1:a -s:v:1 320x180 -f hls -hls_time 1 -hls_playlist_type vod -master_pl_name master.m3u8 \
              -var_stream_map 'v:0,agroup:a v:1,agroup:a a:0,agroup:a,language:en a:1,agroup:a,language:de' show/v%v.m3u8
            """
        let made = try await ChildProcess.run(
            "/bin/bash", ["-ec", script, StreamMedia.ffmpeg ?? "", directory.path], limit: .seconds(300))
        try #require(made.exit == .status(0), "\(made)")
        var files: [String: [UInt8]] = [:]
        for name in try FileManager.default.subpathsOfDirectory(atPath: directory.path) {
            files[name] = FileManager.default.contents(atPath: directory.path(of: name)).map { [UInt8]($0) }
        }
        return files
    }

    /// Publishes the files that the documents name.
    private static func publish(_ site: Site) async throws {
        for (name, bytes) in try await media.value {
            site.origin.set(TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name)), at: "/" + name)
            if name == "show/master.m3u8" {
                let playlist = String(decoding: bytes, as: UTF8.self).replacing(/v\d.m3u8/) { "show/\($0.0)" }
                site.origin.set(
                    TestOrigin.Resource(.bytes(Array(playlist.utf8)), mediaType: StreamMedia.type(of: name)),
                    at: "/show.m3u8")
            }
        }
        for name in ["song", "one", "two"] {
            site.origin.set(
                TestOrigin.Resource(.pattern(seed: 1, length: 961_000), mediaType: "audio/mpeg"), at: "/\(name).mp3")
        }
        site.origin.set(
            TestOrigin.Resource(
                .pattern(seed: 1, length: 1000), mediaType: "application/octet-stream",
                fields: [.server: "nginx/1.22.1"]), at: "/thousand.bin")
    }

    @Test("each command of a document does what the document prints", arguments: documents)
    func transcripts(document: String) async throws {
        try await Site.run { site async throws in
            try await Self.publish(site)
            let scene = try Scene(site)
            let player = "#!/bin/bash\nfor last; do :; done\nexec curl --silent --fail --output /dev/null \"$last\"\n"
            _ = try await site.directory.writeProgram(player, to: "bin/mpv")
            let lists = """
                printf '%s\\n' http://127.0.0.1:18777/one.mp3 http://127.0.0.1:18777/two.mp3 > album.m3u
                printf '%s\\n' http://127.0.0.1:18777/one.mp3 two.mp3 > list.txt
                """
            #expect(try await scene.run(lists).exit == .status(0))
            for block in try Self.blocks(of: document) { try await Self.check(block, in: scene) }
            await scene.stop()
        }
    }

    private static func check(_ block: Block, in scene: Scene) async throws {
        let text = block.steps.map(\.command).joined(separator: "\n")
        let isServerBlock = text.contains(#/\b(curl|tail|health|log-level)\b|^mpv /#)
        let printed = block.steps.flatMap(\.printed).joined()
        if isServerBlock || printed.contains("in use by process") {
            if !text.hasPrefix("reprise serve") || printed.contains("in use") { try await scene.serveIfNeeded() }
        } else {
            await scene.stop()
        }
        let first = block.steps.first.map { ([$0.command] + $0.printed).joined(separator: "\n") } ?? ""
        if let needed = before.filter({ first.hasPrefix($0.key) }).max(by: { $0.key.count < $1.key.count }) {
            let outcome = try await scene.run("set -e\n" + needed.value)
            #expect(outcome.exit == .status(0), "before \(block.steps[0].place): \(outcome)")
        }
        for step in block.steps {
            if let reason = notRun.first(where: { step.command.hasPrefix($0.key) }) {
                try checkScript(step, reason.key)
                continue
            }
            for (command, event) in between where step.command.hasPrefix(command) {
                #expect(try await scene.run(event).exit == .status(0), "before \(step.place)")
            }
            let lines: [String]
            if step.command.hasPrefix("reprise serve"), !step.printed.contains(where: { $0.hasPrefix("reprise: ") }) {
                lines = try await scene.serve(step.command).components(separatedBy: "\n")
            } else {
                let outcome = try await scene.run(step.command)
                lines = (outcome.output + outcome.errors).split(whereSeparator: \.isNewline).map(String.init)
                if let status = step.status ?? (step.printed.isEmpty ? 0 : nil) {
                    #expect(outcome.exit == .status(status), "\(step.place): \(outcome.output)\(outcome)")
                }
            }
            let shapes = Set(lines.map { shape($0, home: scene.home) })
            for line in step.printed where line != "…" {
                let wanted = [line, scene.translated(line)].map { shape($0, home: scene.home) }
                #expect(
                    !shapes.isDisjoint(with: wanted),
                    "\(step.place) prints \(line), not \(lines.joined(separator: "\n"))")
            }
        }
    }

    /// A script that is not run must exist.
    private static func checkScript(_ step: Step, _ kind: String) throws {
        guard kind == "scripts/" else { return }
        let name = try #require(step.command.split(separator: " ").first)
        let path = URL(filePath: #filePath).appending(path: "../../../\(name)").standardized.path
        #expect(FileManager.default.isExecutableFile(atPath: path), "\(step.place)")
    }
}
