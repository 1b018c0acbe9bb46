import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// `export` of streams: a folder, a file through ffmpeg (a script here), the playlist itself, and what is refused.
@Suite(.limit(minutes: 3)) struct ExportTests {
    private static let master = """
        #EXTM3U
        #EXT-X-STREAM-INF:BANDWIDTH=800000,RESOLUTION=640x360
        low.m3u8

        """
    private static let list = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n1.ts\n#EXTINF:4,\n2.ts\n#EXT-X-ENDLIST\n"
    private static let length: Int64 = 300_000

    /// A site with a stream that is stored in a cache of its own, except for `missing`.
    private func run(missing: [String] = [], _ body: (Show) async throws -> Void) async throws {
        try await Site.run { site async throws in
            for (path, text) in [("/show/master.m3u8", Self.master), ("/show/low.m3u8", Self.list)] {
                site.origin.set(
                    TestOrigin.Resource(.bytes(Array(text.utf8)), mediaType: "application/vnd.apple.mpegurl"), at: path)
            }
            for number in 1...2 { site.publish("/show/\(number).ts", length: Self.length) }
            site.publish("/film.mp4", length: 1000)
            let paths = ["/show/master.m3u8", "/show/low.m3u8", "/show/1.ts", "/show/2.ts", "/film.mp4"]
            let urls = paths.filter { !missing.contains($0) }.map { site.origin.url($0) }
            let show = Show(site: site)
            let fetch = try await Command.run(["fetch", "--playlist-only", "--cache-dir", show.cache] + urls)
            #expect(fetch.exit == .status(0), "\(fetch)")
            try await body(show)
        }
    }

    private struct Show {
        let site: Site
        var cache: String { site.directory.path(of: "cache") }
        var url: String { site.origin.url("/show/master.m3u8") }

        func path(of name: String) -> String { site.directory.path(of: name) }

        func export(
            _ arguments: String..., url: String? = nil, environment: [String: String] = [:]
        ) async throws -> ChildProcess.Outcome {
            try await Command.run(
                ["export", "--cache-dir", cache, url ?? self.url] + arguments, environment: environment)
        }

        /// Names beside the cache, hidden ones included.
        var names: Set<String> {
            get throws { Set(try FileManager.default.contentsOfDirectory(atPath: site.directory.path)) }
        }
    }

    /// A program called ffmpeg that runs `body` of bash, in a PATH of its own.
    private struct FakeFFmpeg {
        let directory: TemporaryDirectory
        var searchPath: [String: String] { ["PATH": "\(directory.path):/usr/bin:/bin"] }

        init(_ body: String) async throws {
            directory = try TemporaryDirectory()
            _ = try await directory.writeProgram("#!/bin/bash\n\(body)", to: "ffmpeg")
        }
    }

    @Test func aStreamBecomesAFolder() async throws {
        try await run { show async throws in
            let requests = show.site.origin.snapshot.requestCount
            let folder = show.path(of: "out")
            let export = try await show.export("--output", folder)
            #expect(export.exit == .status(0), "\(export)")
            #expect(export.output == "\(folder)  600 kB in 4 files; play \(folder)/master.m3u8\n")
            #expect(
                try Set(FileManager.default.subpathsOfDirectory(atPath: folder)) == [
                    ".reprise-export", "master.m3u8", "variant-1", "variant-1/index.m3u8",
                    "variant-1/segment-00001.ts", "variant-1/segment-00002.ts",
                ])
            #expect(
                FileManager.default.contents(atPath: folder + "/variant-1/segment-00002.ts").map { [UInt8]($0) }
                    == TestPattern.bytes(in: 0..<Self.length, seed: 1))
            #expect(show.site.origin.snapshot.requestCount == requests, "nothing is fetched")
            let again = try await show.export("-o", folder)
            #expect(again.exit == .status(73) && again.errors.contains("exists already. Replace it with --force."))
            let json = try await show.export("-o", folder, "--force", "--json")
            #expect(json.exit == .status(0), "\(json)")
            #expect(json.output.contains("\"files\":4,\"kind\":\"folder\""), "\(json)")
            #expect(json.output.contains("\"playlist\":\"master.m3u8\""), "\(json)")
            #expect(try show.names == ["cache", "out"])
        }
    }

    @Test func aFolderOfOthersIsNeverReplaced() async throws {
        try await run { show async throws in
            let file = try show.site.directory.write(Array("mine".utf8), to: "notes")
            for output in [show.site.directory.path, file, "/", show.path(of: "no/such"), show.cache + "/media/x"] {
                let refused = try await show.export("--force", "-o", output)
                #expect(refused.exit == .status(73), "\(output): \(refused)")
            }
            #expect(FileManager.default.contents(atPath: file) == Data("mine".utf8))
            #expect(try show.names == ["cache", "notes"])
        }
    }

    @Test func thePlaylistItselfIsWrittenWhereItsNameSaysSo() async throws {
        try await run { show async throws in
            let file = show.path(of: "list.m3u8")
            let export = try await show.export("-o", file)
            #expect(export.exit == .status(0), "\(export)")
            #expect(FileManager.default.contents(atPath: file) == Data(Self.master.utf8))
            #expect(try await show.export("-o", "-").output == Self.master)
            let narrowed = try await show.export("-o", file, "--quality", "best")
            #expect(narrowed.exit == .status(64) && narrowed.errors.contains("go with a stream"), "\(narrowed)")
            let film = show.path(of: "film")
            let plain = try await show.export("-o", film, url: show.site.origin.url("/film.mp4"))
            #expect(plain.exit == .status(0), "\(plain)")
            #expect(FileManager.default.contents(atPath: film)?.count == 1000)
        }
    }

    @Test func whatIsMissingIsSaidWithTheCommandThatHelps() async throws {
        try await run(missing: ["/show/2.ts"]) { show async throws in
            let export = try await show.export("-o", show.path(of: "out"))
            #expect(export.exit == .status(66), "\(export)")
            #expect(export.errors.contains("(low.m3u8: 1 of 2 segments missing). Download the stream first. "))
            #expect(export.errors.hasSuffix("Command: reprise download \(show.url)\n"), "\(export)")
            #expect(try show.names == ["cache"])
        }
    }

    @Test func oneFileIsWrittenByFFmpeg() async throws {
        try await run { show async throws in
            // It notes its arguments, and writes the playlist that it reads.
            let ffmpeg = try await FakeFFmpeg(
                """
                printf '%s\\n' "$@" > "${0%/*}/arguments"
                while [ "$1" != -i ]; do shift; done; from=${2#file:}; for last; do :; done
                cat "$from" "${from%/*}"/variant-1/*.ts > "${last#file:}"
                """)
            defer { ffmpeg.directory.remove() }
            let file = show.path(of: "out.mkv")
            let export = try await show.export("-o", file, "--subtitles", "all", environment: ffmpeg.searchPath)
            #expect(export.exit == .status(0), "\(export)")
            #expect(export.output == "\(file)  600 kB\n")
            let bytes = try #require(FileManager.default.contents(atPath: file))
            #expect(bytes.starts(with: Data("#EXTM3U\n".utf8)) && bytes.count > 600_000)
            let arguments = try String(contentsOfFile: ffmpeg.directory.path + "/arguments", encoding: .utf8)
            #expect(arguments.contains("-protocol_whitelist\nfile,crypto,data\n"))
            #expect(arguments.contains("-map\n0:v?\n-map\n0:a?\n-c\ncopy\n-map\n0:s?\n-c:s\nsubrip\n-f\nmatroska\n"))
            #expect(try show.names == ["cache", "out.mkv"], "the folder is gone")
            let kept = try await show.export("-o", file, environment: ffmpeg.searchPath)
            #expect(kept.exit == .status(73), "\(kept)")
            let sound = try await show.export("-o", show.path(of: "out.m4a"), environment: ffmpeg.searchPath)
            #expect(sound.exit == .status(0), "\(sound)")
            let other = try String(contentsOfFile: ffmpeg.directory.path + "/arguments", encoding: .utf8)
            #expect(!other.contains("0:v?") && !other.contains("0:s?") && other.contains("-f\nipod\n"))
            let none = try await show.export("-o", show.path(of: "out.ts"), "--subtitles", "all")
            #expect(none.exit == .status(64) && none.errors.contains("takes no subtitles"), "\(none)")
        }
    }

    @Test func withoutFFmpegAFolderIsProposed() async throws {
        try await run { show async throws in
            let empty = try TemporaryDirectory()
            defer { empty.remove() }
            let export = try await show.export("-o", show.path(of: "out.mp4"), environment: ["PATH": empty.path])
            #expect(export.exit == .status(127), "\(export)")
            #expect(export.errors.hasSuffix("or name a folder: --output \(show.path(of: "out"))\n"), "\(export)")
        }
    }

    @Test func whatFFmpegSaysIsShown() async throws {
        try await run { show async throws in
            let ffmpeg = try await FakeFFmpeg("for n in {1..20}; do echo \"line $n\" >&2; done; exit 3")
            defer { ffmpeg.directory.remove() }
            let export = try await show.export("-o", show.path(of: "out.mp4"), environment: ffmpeg.searchPath)
            #expect(export.exit == .status(1), "\(export)")
            #expect(
                export.errors.contains("(exit code 3)")
                    && export.errors.hasSuffix("  line 13\n" + (14...20).map { "  line \($0)\n" }.joined()))
            #expect(!export.errors.contains("line 12\n"))
            #expect(try show.names == ["cache"])
        }
    }

    @Test("a file that lacks more than a segment is none, whatever ffmpeg returns", arguments: [true, false])
    func aFileThatLacksAPart(isProbed: Bool) async throws {
        try await run { show async throws in
            // The stream has two segments of 4 seconds, rounded, as the first version of lists has them.
            let ffmpeg = try await FakeFFmpeg(
                """
                while [ "$1" != -progress ]; do shift; done
                printf 'out_time_us=N/A\nprogress=continue\nout_time_us=%s\nprogress=end\n' "$TIME" > "${2#file:}"
                for last; do :; done; echo media > "${last#file:}"
                """)
            defer { ffmpeg.directory.remove() }
            if isProbed {
                _ = try await ffmpeg.directory.writeProgram("#!/bin/bash\necho 3.000000", to: "ffprobe")
            }
            let file = show.path(of: "out.mp4")
            func export(_ time: String) async throws -> ChildProcess.Outcome {
                let environment = ffmpeg.searchPath.merging(["TIME": time]) { $1 }
                return try await show.export("-o", file, "--force", environment: environment)
            }
            let short = try await export("2000000")
            if isProbed {
                #expect(short.exit == .status(0), "\(short)")
            } else {
                #expect(short.exit == .status(1), "\(short)")
                let reason = "out.mp4 would play for 2 s, and the stream plays for 8 s."
                #expect(short.errors.contains(reason), "\(short)")
                #expect(try show.names == ["cache"])
            }
            let whole = try await export("3000000")
            #expect(whole.exit == .status(0), "\(whole)")
        }
    }

    @Test("a signal ends ffmpeg and leaves nothing behind", arguments: [SIGINT, SIGTERM])
    func signalWhileFFmpegRuns(signal: Int32) async throws {
        try await run { show async throws in
            // As in a loop that heeds no signal that can be ignored.
            let ffmpeg = try await FakeFFmpeg(
                "trap '' TERM INT; mkfifo \"$0.fifo\"; exec 4<>\"$0.fifo\"; echo $$ > \"$0.pid\"; echo runs; read -r <&4"
            )
            defer { ffmpeg.directory.remove() }
            let child = try ChildProcess(
                try Command.path, ["export", "--cache-dir", show.cache, show.url, "-o", show.path(of: "out.mp4")],
                environment: Command.environment(ffmpeg.searchPath))
            await child.output.wait { $0.contains("runs") }
            #expect(try show.names.count == 3, "the folder and the file are hidden")
            child.send(signal)
            let outcome = await child.outcome()
            #expect(outcome.exit == .signal(signal), "\(outcome)")
            #expect(outcome.errors.contains("out.mp4 is not whole; run the same command again."), "\(outcome)")
            #expect(try show.names == ["cache"])
            let text = try String(contentsOfFile: ffmpeg.directory.path + "/ffmpeg.pid", encoding: .utf8)
            let identifier = try #require(pid_t(text.filter(\.isNumber)))
            #expect(kill(identifier, 0) == -1 && errno == ESRCH, "ffmpeg runs on")
        }
    }

    @Test func aFullDiskIs74() async throws {
        try await run { show async throws in
            // The largest file that the command may write is smaller than a segment, and the signal is ignored.
            let export = try await Command.run(
                ["export", "--cache-dir", show.cache, show.url, "-o", show.path(of: "out")],
                prefix: ["/bin/sh", "-c", "trap '' XFSZ; ulimit -f 200; exec \"$0\" \"$@\""])
            #expect(export.exit == .status(74), "\(export)")
            #expect(export.errors.contains("Cannot write \(show.path(of: "out")): "), "\(export)")
            #expect(try show.names == ["cache"])
        }
    }

    @Test("a file in a content coding is named with it, and does not get into a folder (RFC 9110 §8.4)")
    func contentCoding() async throws {
        try await run { show async throws in
            func publish(_ path: String, _ type: String, _ text: String, _ fields: HTTPFields = [:]) {
                show.site.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array(text.utf8)), mediaType: type, fields: fields,
                        personality: .init { $0.contentEncoding = "gzip" }), at: path)
            }
            let head = "#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXTINF:4,\n"
            for (name, segment) in [("media", "coded.ts"), ("text", "coded.vtt"), ("secret", "secret.vtt")] {
                show.site.origin.set(
                    TestOrigin.Resource(
                        .bytes(Array("\(head)\(segment)\n#EXT-X-ENDLIST\n".utf8)),
                        mediaType: "application/vnd.apple.mpegurl"), at: "/show/\(name).m3u8")
            }
            publish("/show/coded.ts", "video/mp2t", "packed")
            publish("/show/coded.vtt", "text/vtt", "packed")
            publish("/show/secret.vtt", "text/vtt", "packed", [.cacheControl: "no-store"])
            publish("/show/list.m3u8", "application/vnd.apple.mpegurl", "packed")
            func pin(_ name: String) async throws -> ChildProcess.Outcome {
                try await Command.run(
                    ["download", "--cache-dir", show.cache, show.site.origin.url("/show/\(name).m3u8")])
            }
            let media = try await pin("media")
            #expect(media.exit != .status(0) && media.errors.contains("coded.ts encoded"), "\(media)")
            #expect(media.errors.contains("Content-Encoding: gzip"), "\(media)")
            // Of texts the coding is no reason.
            let secret = try await pin("secret")
            #expect(secret.exit == .status(74) && !secret.errors.contains("encoded"), "\(secret)")
            let list = try await pin("list")
            #expect(list.exit != .status(0) && list.errors.contains("Content-Encoding: gzip"), "\(list)")

            let text = try await pin("text")
            #expect(text.exit == .status(0), "\(text)")
            let export = try await show.export(
                "-o", show.path(of: "out"), url: show.site.origin.url("/show/text.m3u8"))
            #expect(export.exit == .status(1) && export.errors.contains("coded.vtt came encoded"), "\(export)")
            #expect(try !show.names.contains("out"))
        }
    }
}
