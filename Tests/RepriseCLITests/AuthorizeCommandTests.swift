import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// `--authorize-command`: a program that is asked for fresh fields and URLs.
@Suite(.limit(minutes: 2)) struct AuthorizeCommandTests {
    /// A program that runs `script`.
    private static func program(_ script: String, in directory: TemporaryDirectory) async throws -> String {
        try await directory.writeProgram("#!/bin/sh\n\(script)", to: "authorize")
    }

    private static func refuse(_ path: String, with status: Int, at site: Site) {
        site.origin.set(
            TestOrigin.Resource(
                .pattern(seed: 1, length: 10), personality: TestOrigin.Personality { $0.status = status }), at: path)
    }

    @Test("a URL with a new signature is asked, and stored under the old one")
    func freshURL() async throws {
        try await Site.run { site async throws in
            site.publish("/new.mp4", length: 100_000)
            Self.refuse("/old.mp4", with: 403, at: site)
            let notes = site.directory.path(of: "notes")
            let program = try await Self.program(
                "echo $REPRISE_REASON $REPRISE_URL >> \(notes); echo \(site.origin.url("/new.mp4"))",
                in: site.directory)
            let url = site.origin.url("/old.mp4")
            let arguments = ["--authorize-command", program, url]
            let outcome = try await Command.run("fetch", site.directory, arguments)
            #expect(outcome.exit == .status(0), "\(outcome)")
            let entries = try Command.json(Entry.self, try await Command.run("list", site.directory, ["--json"]))
            #expect(entries.map(\.url) == [url])
            #expect(try String(contentsOfFile: notes, encoding: .utf8) == "403 \(url)\n")
        }
    }

    @Test("fields go with the repeated request, once")
    func fields() async throws {
        try await Site.run { site async throws in
            Self.refuse("/film.mp4", with: 401, at: site)
            let program = try await Self.program(
                "echo 'Authorization: Bearer 2'; echo 'X-Device: tv'", in: site.directory)
            let outcome = try await Command.run(
                "fetch", site.directory, ["--authorize-command", program, site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(69), "\(outcome)")
            #expect(outcome.errors.contains("401"))
            let requests = await site.origin.settledSnapshot().requests
            #expect(requests.map { $0.fields[.authorization] } == [nil, "Bearer 2"])
        }
    }

    @Test("a download asks before it begins")
    func download() async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let program = try await Self.program("echo \"Authorization: $REPRISE_REASON\"", in: site.directory)
            let outcome = try await Command.run(
                "download", site.directory, ["--authorize-command", program, site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(0), "\(outcome)")
            let requests = await site.origin.settledSnapshot().requests
            #expect(requests.map { $0.fields[.authorization] } == ["start"])
        }
    }

    @Test("a stream's download and a play through serve ask once for each token, not for each segment")
    func streams() async throws {
        try await Site.run { site async throws in
            let (token, notes) = (site.directory.path(of: "token"), site.directory.path(of: "notes"))
            let program = try await Self.program(
                "echo $REPRISE_REASON >> \(notes); echo \"Authorization: $(cat \(token))\"", in: site.directory)
            func accept(_ text: String) throws {
                try Data(text.utf8).write(to: URL(fileURLWithPath: token))
                let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + (1...5).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
                let personality = TestOrigin.Personality { $0.demandedAuthorization = text }
                for name in ["download", "play"] {
                    site.origin.set(
                        TestOrigin.Resource(
                            .bytes(Array("\(list)#EXT-X-ENDLIST\n".utf8)), mediaType: "application/vnd.apple.mpegurl",
                            personality: personality), at: "/\(name)/list.m3u8")
                    for number in 1...5 {
                        site.origin.set(
                            TestOrigin.Resource(.pattern(seed: 1, length: 50_000), personality: personality),
                            at: "/\(name)/\(number).ts")
                    }
                }
            }
            func reasons() throws -> [Substring] {
                try String(contentsOfFile: notes, encoding: .utf8).split(separator: "\n")
            }
            try accept("1")
            let outcome = try await Command.run(
                "download", site.directory,
                ["--authorize-command", program, site.origin.url("/download/list.m3u8")])
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(try reasons() == ["start"])
            try await Serving.run(site.directory, ["--authorize-command", program]) { serving async throws in
                for number in 1...3 {
                    #expect(try await serving.get(site.target("/play/\(number).ts")).head.status == 200)
                }
                try accept("2")
                for number in 4...5 {
                    #expect(try await serving.get(site.target("/play/\(number).ts")).body.count == 50_000)
                }
            }
            #expect(try reasons() == ["start", "401", "401"])
        }
    }

    @Test("a program that fails is named, and what it printed is not shown")
    func failing() async throws {
        try await Site.run { site async throws in
            Self.refuse("/film.mp4", with: 401, at: site)
            let program = try await Self.program("echo 'Authorization: secret'; exit 3", in: site.directory)
            let outcome = try await Command.run(
                "fetch", site.directory, ["--authorize-command", program, site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(69), "\(outcome)")
            #expect(outcome.errors.contains("\(program) failed with status 3"), "\(outcome.errors)")
            #expect(!outcome.errors.contains("secret"))
        }
    }

    @Test("a program that does not end is not waited for, nor what it started")
    func endless() async throws {
        try await Site.run { site async throws in
            let result = try await Self.outlived("exec sleep 1000", limit: .milliseconds(500), in: site)
            let problem = #expect(throws: AuthorizeCommand.Problem.self) { _ = try result.get() }
            #expect(problem?.errorDescription?.contains("too long") == true)
        }
    }

    /// What a program answers that has started another one, which would not end, and then runs `script`; returns when
    /// both have ended.
    private static func outlived(
        _ script: String, limit: DispatchTimeInterval, in site: Site
    ) async throws -> Result<Authorization?, any Error> {
        let pipe = site.directory.path(of: "pipe")
        #expect(mkfifo(pipe, 0o600) == 0)
        let descriptor = open(pipe, O_RDONLY | O_NONBLOCK)
        defer { close(descriptor) }
        let program = try AuthorizeCommand(
            try await program("exec 4>\(pipe); sleep 1000 & \(script)", in: site.directory), limit: limit)
        let url = try ResourceURL(site.origin.url("/film.mp4"))
        let request = AuthorizationRequest(key: CacheKey("\(url)"), url: url, reason: .downloadStarts)
        let result: Result<Authorization?, any Error>
        do { result = .success(try await program.answer(request)) } catch { result = .failure(error) }
        // The pipe ends when the last of them has.
        var byte: UInt8 = 0
        await eventually { read(descriptor, &byte, 1) == 0 }
        return result
    }

    @Test("what a program leaves behind ends with it, and is not waited for") func leftBehind() async throws {
        try await Site.run { site async throws in
            let answer = try await Self.outlived("echo 'X-A: 1'", limit: .seconds(100), in: site).get()
            #expect(answer?.fields.count == 1)
        }
    }

    @Test func aProgramWhoseOwnProgramIsMissingIsToldSo() async throws {
        let problem = try await Self.problem("no-such-program")
        #expect(
            problem?.hasSuffix("failed with status 127. It may not have found a program that it calls.") == true,
            "\(problem ?? "nothing")")
    }

    @Test func aProgramThatIsNotThereIs127() async throws {
        try await Site.run { site async throws in
            let outcome = try await Command.run(
                "fetch", site.directory, ["--authorize-command", "no-such-program", site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(127), "\(outcome)")
        }
    }

    @Test func whatItPrintsIsReadLineByLine() throws {
        let answer = try #require(
            try AuthorizeCommand.parse("\n  Cookie: a=b; c=d \nhttps://example.com/film.mp4?sig=2\nX-A: 1\r\n"))
        #expect(answer.url?.description == "https://example.com/film.mp4?sig=2")
        #expect(answer.fields[.cookie] == "a=b; c=d" && answer.fields.count == 2)
        #expect(try AuthorizeCommand.parse("\n \n") == nil)
        for text in ["nonsense", "https://", "Bad Name: x", "{\"a\": 1}"] {
            #expect(throws: AuthorizeCommand.Problem.self) { _ = try AuthorizeCommand.parse(text) }
        }
    }

    /// What is wrong with a program that runs `script`.
    private static func problem(_ script: String) async throws -> String? {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let program = try AuthorizeCommand(try await program(script, in: directory))
        let url = try ResourceURL("http://example.com/film.mp4")
        let request = AuthorizationRequest(key: CacheKey("\(url)"), url: url, reason: .downloadStarts)
        do { _ = try await program.answer(request) } catch {
            return (error as? AuthorizeCommand.Problem)?.errorDescription
        }
        return nil
    }

    @Test func aProgramThatPrintsTooMuchIsToldSo() async throws {
        let problem = try await Self.problem("head -c 200000 /dev/zero | tr '\\0' a")
        #expect(problem?.hasSuffix("printed more than 64 KiB.") == true, "\(problem ?? "nothing")")
    }

    @Test(
        "fields that are the command's own are refused by name",
        arguments: ["Range", "Host", "Content-Length", "Connection", "Transfer-Encoding", "If-Range"])
    func ownFields(name: String) throws {
        let problem = #expect(throws: AuthorizeCommand.Problem.self) {
            _ = try AuthorizeCommand.parse("Authorization: Bearer secret\n\(name): 5\n")
        }
        #expect(problem?.errorDescription?.contains("printed \(name), ") == true)
        #expect(problem?.errorDescription?.contains("secret") == false)
    }

    @Test func theProgramGetsNoSecretsOfThisProcess() {
        let variables = ["REPRISE_ENCRYPT_KEY": "00", "REPRISE_TOKEN": "t", "REPRISE_CACHE_DIR": "/c", "PATH": "/bin"]
        #expect(AuthorizeCommand.environment(variables) == ["REPRISE_CACHE_DIR": "/c", "PATH": "/bin"])
    }

    @Test("what cannot be started is wrong usage", arguments: [0o644, 0o755])
    func noProgram(permissions: Int) async throws {
        try await Site.run { site async throws in
            let path = try site.directory.write(Array("not a program\n".utf8), to: "authorize")
            try FileManager.default.setAttributes([.posixPermissions: permissions], ofItemAtPath: path)
            let outcome = try await Command.run(
                "fetch", site.directory, ["--authorize-command", path, site.origin.url("/film.mp4")])
            #expect(outcome.exit == .status(64), "\(outcome)")
            #expect(outcome.errors.contains(permissions == 0o644 ? "chmod +x" : "#!/bin/sh"), "\(outcome)")
            #expect(site.origin.snapshot.requestCount == 0)
        }
    }

    @Test func aSignalEndsTheProgram() async throws {
        try await Site.run { site async throws in
            Self.refuse("/film.mp4", with: 401, at: site)
            let pipe = site.directory.path(of: "pipe")
            #expect(mkfifo(pipe, 0o600) == 0)
            let program = try await Self.program("exec 4>\(pipe); echo up >&4; exec sleep 1000", in: site.directory)
            let child = try ChildProcess(
                Command.path,
                [
                    "fetch", "--cache-dir", site.directory.path(of: "cache"), "--authorize-command", program,
                    site.origin.url("/film.mp4"),
                ], environment: Command.environment())
            let descriptor = try await onThread { open(pipe, O_RDONLY) }
            defer { close(descriptor) }
            func next() async throws -> [UInt8] {
                try await onThread {
                    var buffer = [UInt8](repeating: 0, count: 16)
                    let count = read(descriptor, &buffer, buffer.count)
                    return Array(buffer.prefix(max(0, count)))
                }
            }
            #expect(try await next() == Array("up\n".utf8))
            child.send(SIGINT)
            #expect(await child.outcome().exit == .signal(SIGINT))
            // The pipe ends when the program has.
            #expect(try await next().isEmpty)
        }
    }
}
