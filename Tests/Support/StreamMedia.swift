import Foundation
import RepriseTesting

#if os(macOS) || os(Linux)
    /// Some seconds of a stream, made by ffmpeg in one of the forms in which streams are packaged.
    public enum StreamMedia: String, CaseIterable, Sendable {
        case transportStream = "ts"
        case fragments = "fmp4"
        case byteRanges = "byte ranges"
        case encrypted = "AES-128"
        case variants = "three variants, audio and subtitles apart"
        case dashTemplate = "DASH, SegmentTemplate"
        case dashBase = "DASH, SegmentBase"

        /// Where ffmpeg is installed; `nil` if it is not.
        public static let ffmpeg = ChildProcess.path(of: "ffmpeg")

        /// ffmpeg could not make it.
        public struct Failure: Error {
            let media: StreamMedia
            let outcome: ChildProcess.Outcome
        }

        /// Whether it is DASH.
        public var isDASH: Bool { self == .dashTemplate || self == .dashBase }
        /// The name of the outermost playlist.
        public var index: String { isDASH ? "index.mpd" : self == .variants ? "master.m3u8" : "index.m3u8" }

        /// The files, by name; each segment has a second.
        public func make(seconds: Int = 6) async throws -> [String: [UInt8]] {
            let directory = try TemporaryDirectory(prefix: "reprise-stream")
            defer { directory.remove() }
            _ = try directory.write((0..<16).map { UInt8($0 * 11) }, to: "key.bin")
            _ = try directory.write(Array("key.bin\nkey.bin\n".utf8), to: "key.txt")
            _ = try directory.write(Array("1\n00:00:00,000 --> 00:00:05,000\nHello\n\n".utf8), to: "text.srt")
            let outcome = try await ChildProcess.run(
                "/bin/sh",
                ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", directory.path, Self.ffmpeg ?? ""]
                    + arguments(seconds: seconds),
                limit: .seconds(60))
            guard outcome.exit == .status(0) else { throw Failure(media: self, outcome: outcome) }
            var files: [String: [UInt8]] = [:]
            for name in try FileManager.default.contentsOfDirectory(atPath: directory.path)
            where name != "key.txt" && name != "text.srt" {
                files[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: directory.path(of: name))))
            }
            if self == .dashBase { files[index] = files[index].map { withSegmentBase($0, files) } }
            return files
        }

        /// The media type of a file.
        public static func type(of name: String) -> String {
            switch name.split(separator: ".").last {
            case "m3u8": "application/vnd.apple.mpegurl"
            case "mpd": "application/dash+xml"
            case "ts": "video/mp2t"
            case "vtt": "text/vtt"
            case "bin": "application/octet-stream"
            default: "video/mp4"
            }
        }

        private func arguments(seconds: Int) -> [String] {
            let inputs = [
                "-v", "error", "-nostdin", "-f", "lavfi", "-i", "testsrc2=size=160x90:rate=10:duration=\(seconds)",
                "-f",
                "lavfi",
                "-i", "anoisesrc=seed=7:amplitude=0.2:duration=\(seconds)",
            ]
            let codecs = [
                "-c:v", "libx264", "-preset", "ultrafast", "-g", "10", "-pix_fmt", "yuv420p", "-b:v", "200k", "-c:a",
                "aac",
                "-b:a", "96k",
            ]
            let hls = ["-f", "hls", "-hls_time", "1", "-hls_playlist_type", "vod"]
            let dash = ["-f", "dash", "-seg_duration", "1"]
            return switch self {
            case .transportStream: inputs + codecs + hls + ["-hls_segment_filename", "s%02d.ts", index]
            case .fragments:
                inputs + codecs + hls + ["-hls_segment_type", "fmp4", "-hls_segment_filename", "s%02d.m4s", index]
            case .byteRanges:
                inputs + codecs + hls
                    + [
                        "-hls_flags", "single_file", "-hls_segment_type", "fmp4", "-hls_segment_filename", "film.mp4",
                        index,
                    ]
            case .encrypted:
                inputs + codecs + hls + ["-hls_key_info_file", "key.txt", "-hls_segment_filename", "s%02d.ts", index]
            case .variants:
                inputs + ["-i", "text.srt", "-map", "0:v", "-map", "0:v", "-map", "0:v", "-map", "1:a", "-map", "2:s"]
                    + codecs + ["-s:v:1", "128x72", "-s:v:2", "96x54", "-c:s", "webvtt"] + hls
                    + [
                        "-master_pl_name", index, "-var_stream_map",
                        "v:0,agroup:a,s:0,sgroup:t v:1,agroup:a v:2,agroup:a a:0,agroup:a,language:en",
                        "-hls_segment_filename", "v%v_%02d.ts", "v%v.m3u8",
                    ]
            case .dashTemplate: inputs + codecs + dash + ["-use_template", "1", "-use_timeline", "0", index]
            case .dashBase: inputs + codecs + dash + ["-single_file", "1", "-global_sidx", "1", index]
            }
        }

        /// ffmpeg's list of byte ranges, replaced by where the segment index lies.
        private func withSegmentBase(_ description: [UInt8], _ files: [String: [UInt8]]) -> [UInt8] {
            var text = String(decoding: description, as: UTF8.self)
            while let list = text.firstRange(of: /<SegmentList[\s\S]*?<\/SegmentList>/),
                let name = text[..<list.lowerBound].matches(of: /<BaseURL>(.*?)<\/BaseURL>/).last?.1,
                let index = files[String(name)].flatMap({ Self.box("sidx", in: $0) })
            {
                text.replaceSubrange(
                    list,
                    with: """
                        <SegmentBase indexRange="\(index.lowerBound)-\(index.upperBound - 1)">\
                        <Initialization range="0-\(index.lowerBound - 1)"/></SegmentBase>
                        """)
            }
            return Array(text.utf8)
        }

        private static func box(_ type: String, in file: [UInt8]) -> Range<Int>? {
            var offset = 0
            while offset + 8 <= file.count {
                let size = file[offset..<offset + 4].reduce(0) { $0 << 8 | Int($1) }
                if file[offset + 4..<offset + 8].elementsEqual(type.utf8) { return offset..<offset + size }
                offset += max(size, 8)
            }
            return nil
        }
    }
#endif
