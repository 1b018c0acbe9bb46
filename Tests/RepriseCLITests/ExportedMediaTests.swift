import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Streams made by ffmpeg, exported, and decoded again without a network.
@Suite(
    .limit(minutes: 5),
    .enabled(if: StreamMedia.ffmpeg != nil, "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct ExportedMediaTests {
    /// ffmpeg could not decode it.
    private struct Failure: Error { let path: String, outcome: ChildProcess.Outcome }

    /// Decodes all that `path` has to its end; returns a line with the checksum of each frame.
    private func frames(_ path: String) async throws -> [String] {
        let outcome = try await ChildProcess.run(
            try #require(StreamMedia.ffmpeg),
            // Behind the last segment of DASH ffmpeg asks for one more, and calls it an error that there is none.
            ["-v", "error", "-nostdin"] + (path.hasSuffix(".mpd") ? [] : ["-xerror"]) + [
                "-protocol_whitelist", "file,crypto,data",
            ]
                + (path.hasSuffix(".mp4") || path.hasSuffix(".mkv") ? [] : ["-allowed_extensions", "ALL"])
                + ["-i", path, "-map", "0:v?", "-map", "0:a?", "-f", "framemd5", "-"])
        guard outcome.exit == .status(0) else { throw Failure(path: path, outcome: outcome) }
        return outcome.output.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test(
        "the folder and the file decode to the same frames as the stream",
        arguments: [
            StreamMedia.encrypted, .fragments, .byteRanges, .variants, .dashTemplate, .dashBase,
        ])
    func decodes(media: StreamMedia) async throws {
        // ffmpeg's own description ends before this last bit of sound.
        let files = try await media.make().filter { $0.key != "chunk-stream1-00007.m4s" }
        try await Site.run { site async throws in
            let source = site.directory.path(of: "source")
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: false)
            for (name, bytes) in files {
                try Data(bytes).write(to: URL(fileURLWithPath: "\(source)/\(name)"))
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            let url = site.origin.url("/show/\(media.index)")
            let cache = site.directory.path(of: "cache")
            let pin = try await Command.run(
                ["download", "--subtitles", "all", "--cache-dir", cache, url])
            #expect(pin.exit == .status(0), "\(pin)")
            await site.origin.stop()

            let folder = site.directory.path(of: "folder")
            let export = try await Command.run(["export", "--cache-dir", cache, url, "-o", folder])
            #expect(export.exit == .status(0), "\(export)")
            let expected = try await frames("\(source)/\(media == .variants ? "v0.m3u8" : media.index)")
            let exported = try await frames("\(folder)/\(media.index)")
            if media == .variants {
                // The source's best variant is without its sound.
                #expect(exported.filter { $0.hasPrefix("0,") } == expected, "\(media)")
                #expect(exported.contains { $0.hasPrefix("1,") })
            } else {
                #expect(exported == expected, "\(media)")
            }
            #expect(expected.count { $0.hasPrefix("0,") } == 60, "six seconds of ten pictures")

            let file = site.directory.path(of: "film.mp4")
            let single = try await Command.run(["export", "--cache-dir", cache, url, "-o", file])
            #expect(single.exit == .status(0), "\(single)")
            // Without their times, which begin at zero here.
            let sums = { (lines: [String]) in
                lines.map { line in line.split(separator: ",").map { $0.filter { $0 != " " } } }
                    .map { ($0.first ?? "") + ($0.last ?? "") }.sorted()
            }
            // The list of variants has the sound twice: as a variant, too.
            let wanted = media == .variants ? exported.filter { !$0.hasPrefix("2,") } : exported
            let difference = sums(try await frames(file)).difference(from: sums(wanted))
            #expect(difference.insertions.isEmpty, "\(media)")
            // Where ffmpeg meets the end of DASH, it leaves out the sound behind the last picture.
            #expect(difference.removals.count <= (media == .dashTemplate ? 3 : 0), "\(media)")
        }
    }

    @Test("a segment that is a list of files has ffmpeg open none of them")
    func listForASegment() async throws {
        let list = Array("ffconcat version 1.0\nfile other.mp4\n".utf8)
        let mpd = """
            <MPD profiles="urn:mpeg:dash:profile:isoff-live:2011" type="static" mediaPresentationDuration="PT4S">\
            <Period><AdaptationSet mimeType="video/mp4"><Representation id="1" bandwidth="1">\
            <BaseURL>list.mp4</BaseURL></Representation></AdaptationSet></Period></MPD>
            """
        try await Site.run { site async throws in
            for (name, bytes) in [("list.mp4", list), ("index.mpd", Array(mpd.utf8))] {
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"1\""),
                    at: "/\(name)")
            }
            let (cache, url) = (site.directory.path(of: "cache"), site.origin.url("/index.mpd"))
            let pin = try await Command.run(["download", "--cache-dir", cache, url])
            #expect(pin.exit == .status(0), "\(pin)")
            let export = try await Command.run(
                ["export", "--cache-dir", cache, url, "-o", site.directory.path(of: "film.mkv")])
            #expect(export.exit == .status(1) && export.errors.contains("whitelist"), "\(export)")
            #expect(!export.errors.contains("other.mp4"), "\(export)")
        }
    }

    /// The languages of the sound, and of the subtitles, in the file at `path`.
    private func languages(_ path: String, _ kind: String) async throws -> String {
        let ffprobe = try #require(StreamMedia.ffmpeg).replacing("ffmpeg", with: "ffprobe")
        let outcome = try await ChildProcess.run(
            ffprobe,
            ["-v", "error", "-select_streams", kind, "-show_entries", "stream_tags=language", "-of", "csv=p=0", path])
        return outcome.output.split(separator: "\n").joined(separator: " ")
    }

    /// Downloads the variants that consist of `files`, with their subtitles; returns their URL and the cache.
    private static func downloaded(
        _ files: [String: [UInt8]], from site: Site
    ) async throws -> (url: String, cache: String) {
        for (name, bytes) in files {
            site.origin.set(
                TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                at: "/show/\(name)")
        }
        let url = site.origin.url("/show/\(StreamMedia.variants.index)")
        let cache = site.directory.path(of: "cache")
        let pin = try await Command.run(["download", "--subtitles", "all", "--cache-dir", cache, url])
        #expect(pin.exit == .status(0), "\(pin)")
        return (url, cache)
    }

    @Test(
        "languages get into the file, by the names that its container has for them",
        arguments: [("film.mp4", "deu", "por"), ("film.mov", "ger", "por"), ("film.mkv", "de", "pt-BR")])
    func languages(name: String, sound: String, text: String) async throws {
        var files = try await StreamMedia.variants.make()
        let master = String(decoding: try #require(files[StreamMedia.variants.index]), as: UTF8.self)
            .replacing("LANGUAGE=\"en\"", with: "LANGUAGE=\"de\"")
            .replacing("TYPE=SUBTITLES,", with: "TYPE=SUBTITLES,LANGUAGE=\"pt-BR\",")
        files[StreamMedia.variants.index] = Array(master.utf8)
        try await Site.run { site async throws in
            let (url, cache) = try await Self.downloaded(files, from: site)
            let path = site.directory.path(of: name)
            let export = try await Command.run(["export", "--cache-dir", cache, url, "-o", path])
            #expect(export.exit == .status(0), "\(export)")
            #expect(try await languages(path, "a") == sound)
            #expect(try await languages(path, "s") == text)
        }
    }

    @Test("subtitles of HLS get into a file that takes them, and where it takes none, that is said")
    func subtitles() async throws {
        let files = try await StreamMedia.variants.make()
        try await Site.run { site async throws in
            let (url, cache) = try await Self.downloaded(files, from: site)
            func export(_ name: String, _ options: String...) async throws -> (path: String, errors: String) {
                let path = site.directory.path(of: name)
                let outcome = try await Command.run(["export", "--cache-dir", cache, url, "-o", path] + options)
                #expect(outcome.exit == .status(0), "\(outcome)")
                return (path, outcome.errors)
            }
            func texts(_ path: String) async throws -> String {
                let outcome = try await ChildProcess.run(
                    try #require(StreamMedia.ffmpeg),
                    ["-v", "error", "-nostdin", "-i", path, "-map", "0:s?", "-f", "srt", "-"])
                return outcome.output
            }
            for name in ["show.mkv", "show.mp4"] {
                let (path, errors) = try await export(name)
                let text = try await texts(path)
                // The sound begins a little before the picture, and counts as the beginning.
                let isWhole = text.wholeMatch(of: /1\n00:00:00,0\d\d --> 00:00:05,0\d\d\nHello\s*/) != nil
                #expect(isWhole, "\(name): \(text)")
                #expect(errors.isEmpty)
            }
            let none = try await export("none.mkv", "--subtitles", "none")
            let noText = try await texts(none.path)
            #expect(!noText.contains("Hello") && none.errors.isEmpty)
            let stream = try await export("show.ts")
            #expect(stream.errors.hasSuffix("a .ts file takes none. Name an .mkv or .mp4 file.\n"), "\(stream)")
        }
    }

    /// A period of three seconds, with the sound in `languages`.
    private static func period(_ id: String, languages: [String], size: String = "width='160' height='90'") -> String {
        func set(_ attributes: String, stream: Int, representation: String) -> String {
            """
            <AdaptationSet \(attributes)><SegmentTemplate duration="1" initialization="init-stream\(stream).m4s" \
            media="chunk-stream\(stream)-$Number%05d$.m4s"/>\
            <Representation bandwidth="200000" \(representation)/></AdaptationSet>
            """
        }
        let picture = set("contentType='video' mimeType='video/mp4'", stream: 0, representation: "id='0' \(size)")
        let voices = languages.map { language in
            set(
                "contentType='audio' mimeType='audio/mp4' lang='\(language)'", stream: 1,
                representation: "id='\(language)'")
        }
        return "<Period id=\"\(id)\" duration=\"PT3S\">\(picture)\(voices.joined())</Period>"
    }

    @Test("periods of DASH follow each other in one file, and those that do not fit together are refused")
    func periods() async throws {
        let files = try await StreamMedia.dashTemplate.make(seconds: 3)
        try await Site.run { site async throws in
            let source = site.directory.path(of: "source")
            try FileManager.default.createDirectory(atPath: source, withIntermediateDirectories: false)
            func publish(_ name: String, _ bytes: [UInt8]) {
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            for (name, bytes) in files {
                try Data(bytes).write(to: URL(fileURLWithPath: "\(source)/\(name)"))
                publish(name, bytes)
            }
            let first = Self.period("film", languages: ["en", "de"])
            let seconds = [
                "two": Self.period("end", languages: ["de", "en"]), "one": Self.period("end", languages: ["en"]),
                "large": Self.period("end", languages: ["en", "de"], size: "width='320' height='180'"),
            ]
            for (name, second) in seconds {
                let mpd = """
                    <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" profiles="urn:mpeg:dash:profile:isoff-live:2011" \
                    type="static" mediaPresentationDuration="PT6S">\(first)\(second)</MPD>
                    """
                publish("\(name).mpd", Array(mpd.utf8))
            }
            let cache = site.directory.path(of: "cache")
            let urls = seconds.keys.map { site.origin.url("/show/\($0).mpd") }
            let pin = try await Command.run(
                ["download", "--audio", "en,de", "--cache-dir", cache] + urls)
            #expect(pin.exit == .status(0), "\(pin)")
            await site.origin.stop()
            func export(_ name: String, to output: String) async throws -> ChildProcess.Outcome {
                try await Command.run(
                    [
                        "export", "--cache-dir", cache, site.origin.url("/show/\(name).mpd"), "-o",
                        site.directory.path(of: output),
                    ])
            }
            let pictures = try await frames("\(source)/index.mpd").filter { $0.hasPrefix("0,") }
            for name in ["two.mkv", "two.mp4"] {
                let joined = try await export("two", to: name)
                #expect(joined.exit == .status(0), "\(joined)")
                let all = try await frames(site.directory.path(of: name))
                let fields = all.filter { $0.hasPrefix("0,") }.map { line in
                    line.split(separator: ",").map { String($0.filter { $0 != " " }) }
                }
                let hashes = pictures.map { String($0.split(separator: ",").last ?? "").filter { $0 != " " } }
                let times = fields.map { Int($0[2]) }
                let voices = ["1,", "2,"].map { voice in all.count { $0.hasPrefix(voice) } }
                #expect(fields.compactMap(\.last) == hashes + hashes, "\(name)")
                #expect(times == Array(0..<60), "\(name): one picture follows the other")
                #expect(voices[0] > 240 && voices[1] > 240, "\(name): \(voices)")
            }
            for (name, codes) in [("two.mkv", "en de"), ("two.mp4", "eng deu")] {
                #expect(try await languages(site.directory.path(of: name), "a") == codes)
            }

            for (name, reason) in [
                ("one", "period 2 (end) has no sound in de, which period 1 (film) has."),
                ("large", "the picture is 160x90 in period 1 (film) and 320x180 in period 2 (end)."),
            ] {
                let refused = try await export(name, to: "\(name).mkv")
                #expect(refused.exit == .status(1) && refused.errors.contains(reason), "\(refused)")
                #expect(refused.errors.hasSuffix("--output \(site.directory.path(of: name))\n"), "\(refused)")
                #expect(!FileManager.default.fileExists(atPath: site.directory.path(of: "\(name).mkv")))
                let folder = try await export(name, to: name)
                #expect(folder.exit == .status(0), "\(folder)")
            }
        }
    }

    /// The files that ffmpeg makes of moving pictures and a tone with `arguments`, which are given a directory.
    private static func media(
        seconds: Int, _ arguments: (TemporaryDirectory) -> [String]
    ) async throws -> [String: [UInt8]] {
        let directory = try TemporaryDirectory(prefix: "reprise-part")
        defer { directory.remove() }
        let outcome = try await ChildProcess.run(
            try #require(StreamMedia.ffmpeg),
            [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=10:duration=\(seconds)",
                "-f", "lavfi", "-i", "sine=duration=\(seconds)", "-c:v", "libx264", "-g", "10", "-pix_fmt", "yuv420p",
                "-c:a", "aac",
            ] + arguments(directory))
        #expect(outcome.exit == .status(0), "\(outcome)")
        var files: [String: [UInt8]] = [:]
        for file in try FileManager.default.contentsOfDirectory(atPath: directory.path) {
            files[file] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path(of: file))))
        }
        return files
    }

    /// Two segments of a stream with a map of its own, whose names begin with `name`.
    private static func fragments(_ name: String, _ options: String...) async throws -> [String: [UInt8]] {
        try await media(seconds: 2) { directory in
            options + [
                "-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod", "-hls_segment_type", "fmp4",
                "-hls_fmp4_init_filename", "\(name)-init.mp4", "-hls_segment_filename",
                directory.path(of: "\(name)%d.m4s"), directory.path(of: "\(name).m3u8"),
            ]
        }
    }

    @Test("parts of HLS with other maps follow each other in one file; with another picture they are refused")
    func parts() async throws {
        var files = try await Self.fragments("film", "-profile:v", "baseline")
        for (name, options) in [("advert", ["160x90"]), ("large", ["320x180"])] {
            // With frames that need later ones, which a decoder must know from its map.
            let more = try await Self.fragments(name, "-profile:v", "high", "-bf", "2", "-s", options[0])
            files.merge(more) { one, _ in one }
        }
        let lists = ["film", "advert", "large"].map { String(decoding: files["\($0).m3u8"] ?? [], as: UTF8.self) }
        for (name, second) in [("joined", lists[1]), ("unlike", lists[2])] {
            let start = try #require(second.range(of: "#EXT-X-MAP")).lowerBound
            let list = lists[0].replacing("#EXT-X-ENDLIST", with: "#EXT-X-DISCONTINUITY\n" + second[start...])
            files["\(name).m3u8"] = Array(list.utf8)
        }
        try await Site.run { [files] site async throws in
            for (name, bytes) in files {
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            let cache = site.directory.path(of: "cache")
            let urls = ["joined", "unlike"].map { site.origin.url("/show/\($0).m3u8") }
            let pin = try await Command.run(["download", "--cache-dir", cache] + urls)
            #expect(pin.exit == .status(0), "\(pin)")
            for name in ["film.mkv", "film.mp4"] {
                let path = site.directory.path(of: name)
                let export = try await Command.run(["export", "--cache-dir", cache, urls[0], "-o", path])
                #expect(export.exit == .status(0), "\(export)")
                let pictures = try await frames(path).count { $0.hasPrefix("0,") }
                // Where the parts meet, two pictures may have one time, of which ffmpeg decodes one to its output.
                #expect(pictures >= 39, "\(name): four seconds of ten pictures")
            }
            let refused = try await Command.run(
                ["export", "--cache-dir", cache, urls[1], "-o", site.directory.path(of: "no.mkv")])
            #expect(refused.exit == .status(1), "\(refused)")
            #expect(
                refused.errors.contains("the picture is 160x90 in part 1 and 320x180 in part 2"), "\(refused)")
        }
    }

    @Test(
        "what follows a discontinuity follows in the file, too, whatever its times are; what is missing stays out",
        arguments: [(1.0, 0), (8, 0), (300, 0), (6, 1)])
    func jump(to offset: Double, gaps: Int) async throws {
        var files: [String: [UInt8]] = [:]
        for (name, offset) in [("a.ts", 0), ("b.ts", offset)] {
            let segment = try await Self.media(seconds: 3) { directory in
                ["-output_ts_offset", "\(offset)", "-f", "mpegts", directory.path(of: name)]
            }
            files.merge(segment) { one, _ in one }
        }
        let gap = gaps > 0 ? "#EXT-X-GAP\n#EXTINF:3,\nlost.ts\n" : ""
        files["film.m3u8"] = Array(
            """
            #EXTM3U
            #EXT-X-TARGETDURATION:3
            #EXTINF:3,
            a.ts
            #EXT-X-DISCONTINUITY
            \(gap)#EXTINF:3,
            b.ts
            #EXT-X-ENDLIST

            """.utf8)
        try await Site.run { [files] site async throws in
            for (name, bytes) in files {
                site.origin.set(
                    TestOrigin.Resource(.bytes(bytes), mediaType: StreamMedia.type(of: name), etag: "\"\(name)\""),
                    at: "/show/\(name)")
            }
            let (cache, url) = (site.directory.path(of: "cache"), site.origin.url("/show/film.m3u8"))
            let pin = try await Command.run(["download", "--cache-dir", cache, url])
            #expect(pin.exit == .status(0), "\(pin)")
            let path = site.directory.path(of: "film.mkv")
            let export = try await Command.run(["export", "--cache-dir", cache, url, "-o", path])
            #expect(export.exit == .status(0), "\(export)")
            // Of each picture, in tenths of a second.
            let times = try await frames(path).filter { $0.hasPrefix("0,") }.compactMap { line in
                Int(line.split(separator: ",")[2].filter { $0 != " " })
            }
            // A part is as long as its sound, which ends a little behind its last picture.
            let pauses = zip(times, times.dropFirst()).map { $1 - $0 }.filter { $0 > 2 }
            #expect(times.count >= 59 && pauses.count == gaps, "\(times)")
        }
    }

    @Test(
        "the subtitles that a player shows by itself are those of the playlist",
        arguments: [("", "0"), (",DEFAULT=YES", "1")])
    func defaultSubtitles(attributes: String, mark: String) async throws {
        var files = try await StreamMedia.variants.make()
        let master = String(decoding: try #require(files[StreamMedia.variants.index]), as: UTF8.self)
            .replacing(/(TYPE=SUBTITLES[^\n]*?),DEFAULT=\w+/) { String($0.output.1) }
            .replacing("TYPE=SUBTITLES,", with: "TYPE=SUBTITLES\(attributes),")
        files[StreamMedia.variants.index] = Array(master.utf8)
        try await Site.run { [files] site async throws in
            let (url, cache) = try await Self.downloaded(files, from: site)
            for name in ["film.mkv", "film.mp4"] {
                let path = site.directory.path(of: name)
                let export = try await Command.run(["export", "--cache-dir", cache, url, "-o", path])
                #expect(export.exit == .status(0), "\(export)")
                let ffprobe = try #require(StreamMedia.ffmpeg).replacing("ffmpeg", with: "ffprobe")
                let marks = try await ChildProcess.run(
                    ffprobe,
                    [
                        "-v", "error", "-select_streams", "s", "-show_entries", "stream_disposition=default", "-of",
                        "csv=p=0", path,
                    ])
                #expect(marks.output == "\(mark)\n", "\(name)")
            }
        }
    }
}
