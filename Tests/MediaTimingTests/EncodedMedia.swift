import Foundation
import RepriseTesting
import TestSupport

/// Media of sixteen seconds in many containers, which ffmpeg makes in two runs: it encodes, then it copies.
struct EncodedMedia {
    /// ffmpeg or ffprobe failed.
    struct Failure: Error { let program: String?, outcome: ChildProcess.Outcome }

    /// A file as it is told to ffmpeg: what it is made of, and how.
    struct File {
        let name: String
        let sources: [String]
        let options: [String]
        /// Of the source, in seconds, where the file begins.
        var start: String?

        init(_ name: String, of sources: String..., by options: String = "", from start: String? = nil) {
            (self.name, self.sources, self.start) = (name, sources, start)
            self.options = options.split(separator: " ").map(String.init)
        }
    }

    static let ffmpeg = ChildProcess.path(of: "ffmpeg")
    static let ffprobe = ChildProcess.path(of: "ffprobe")

    /// What is encoded: pictures of a steady and of a changing rate, without and with reordered frames, and sounds.
    private static let sources: [(name: String, encoding: String)] = [
        ("plain", "-c:v libx264 -preset ultrafast -b:v 800k -maxrate 800k -bufsize 400k -bf 0 -g 50"),
        ("reordered", "-c:v libx264 -preset veryfast -crf 30 -bf 3 -b_strategy 0 -b-pyramid normal -g 75"),
        ("vp8", "-c:v libvpx -deadline realtime -cpu-used 16 -b:v 600k -g 50"),
        ("mpeg2", "-c:v mpeg2video -b:v 900k -bf 2 -g 15"),
        ("aac", "-c:a aac -aac_coder fast -b:a 128k"),
        ("mp3-cbr", "-c:a libmp3lame -compression_level 9 -b:a 160k"),
        ("mp3-vbr", "-c:a libmp3lame -compression_level 9 -q:a 2"),
        ("mp3-mono", "-c:a libmp3lame -compression_level 9 -ac 1 -ar 22050 -q:a 4"),
        ("mp2", "-c:a mp2 -b:a 192k"),
        ("ac3", "-c:a ac3 -b:a 192k"),
        ("flac-audio", "-c:a flac -compression_level 2"),
        ("vorbis", "-c:a libvorbis -q:a 4"),
        ("opus", "-c:a libopus -compression_level 0 -b:a 128k -vbr on"),
        ("pcm", "-c:a pcm_s16le"),
    ]

    static let files: [File] = [
        // MP4 and QuickTime, `moov` in front and behind, VBR with reordered frames and CBR without.
        File("faststart-plain.mp4", of: "plain", "aac", by: "-movflags +faststart"),
        File("faststart-reordered.mp4", of: "reordered", "aac", by: "-movflags +faststart"),
        File("last-plain.mp4", of: "plain", "aac"),
        File("last-reordered.mp4", of: "reordered", "aac"),
        File("faststart-plain.mov", of: "plain", "pcm", by: "-movflags +faststart"),
        File("last-reordered.mov", of: "reordered", "aac"),
        File("two-sounds.mp4", of: "reordered", "aac", "ac3", by: "-movflags +faststart"),
        File("mp3-in.mp4", of: "plain", "mp3-cbr", by: "-movflags +faststart"),
        File("video-only.mp4", of: "reordered", by: "-movflags +faststart"),
        File("negative-offsets.mp4", of: "reordered", "aac", by: "-movflags +negative_cts_offsets"),
        File("no-edit-list.mp4", of: "reordered", "aac", by: "-use_editlist 0"),
        File("trimmed.mp4", of: "reordered", "aac", by: "-movflags +faststart", from: "4.4"),
        File("song-faststart.m4a", of: "aac", by: "-movflags +faststart"),
        File("song-last.m4a", of: "aac"),
        File("opus-in.mp4", of: "opus", by: "-movflags +faststart"),
        File("flac-in.mp4", of: "flac-audio", by: "-strict -2"),
        // Fragments, with an index, with a list at the end, with neither.
        File("fragments-plain.mp4", of: "plain", "aac", by: "-movflags +frag_keyframe+empty_moov"),
        File("fragments-reordered.mp4", of: "reordered", "aac", by: "-movflags +frag_keyframe+empty_moov"),
        File("fragments-no-list.mp4", of: "plain", "aac", by: "-movflags +frag_keyframe+empty_moov+skip_trailer"),
        File(
            "fragments-based.mp4", of: "reordered", "aac",
            by: "-movflags +frag_keyframe+empty_moov+default_base_moof"),
        File("fragments-seconds.mp4", of: "plain", "aac", by: "-movflags +empty_moov -frag_duration 1000000"),
        File("fragments-long.mp4", of: "reordered", "aac", by: "-movflags +empty_moov -frag_duration 8000000"),
        File("fragments-behind-samples.mp4", of: "plain", "aac", by: "-movflags +frag_keyframe"),
        File("fragments-apart.mp4", of: "plain", "aac", by: "-movflags +frag_keyframe+empty_moov+separate_moof"),
        File("index-plain.mp4", of: "plain", "aac", by: "-movflags +dash+global_sidx+frag_keyframe+empty_moov"),
        File("index-reordered.mp4", of: "reordered", "aac", by: "-movflags +dash+global_sidx+frag_keyframe+empty_moov"),
        File("index-video.mp4", of: "reordered", by: "-movflags +dash+global_sidx+frag_keyframe+empty_moov"),
        File("index-each.mp4", of: "plain", "aac", by: "-movflags +dash+frag_keyframe+empty_moov"),
        File("fragments.m4a", of: "aac", by: "-movflags +empty_moov -frag_duration 2000000"),
        // Matroska and WebM: cues behind, in front, none.
        File("cues-last-plain.mkv", of: "plain", "aac"),
        File("cues-last-reordered.mkv", of: "reordered", "aac"),
        File("cues-first-plain.mkv", of: "plain", "aac", by: "-reserve_index_space 4096"),
        File("cues-first-reordered.mkv", of: "reordered", "flac-audio", by: "-reserve_index_space 4096"),
        File("no-cues-plain.mkv", of: "plain", "aac", by: "-live 1"),
        File("no-cues-reordered.mkv", of: "reordered", "ac3", by: "-live 1"),
        File("small-clusters.mkv", of: "reordered", "aac", by: "-cluster_time_limit 500"),
        File("two-sounds.mkv", of: "reordered", "mp3-vbr", "opus"),
        File("cues-last.webm", of: "vp8", "opus"),
        File("cues-first.webm", of: "vp8", "vorbis", by: "-cues_to_front 1"),
        File("no-cues.webm", of: "vp8", "opus", by: "-live 1"),
        File("song.webm", of: "opus"),
        File("song.mka", of: "flac-audio"),
        // MP3, with and without a table.
        File("cbr.mp3", of: "mp3-cbr", by: "-write_id3v1 1"),
        File("vbr.mp3", of: "mp3-vbr"),
        File("vbr-no-table.mp3", of: "mp3-vbr", by: "-write_xing 0 -id3v2_version 0"),
        File("cbr-no-table.mp3", of: "mp3-cbr", by: "-write_xing 0"),
        File("mono.mp3", of: "mp3-mono"),
        File("cover.mp3", of: "mp3-vbr", "cover", by: "-id3v2_version 3 -disposition:v attached_pic"),
        File("song.mp2", of: "mp2"),
        // Other sounds.
        File("song.aac", of: "aac"),
        File("tagged.aac", of: "aac", by: "-write_id3v2 1"),
        File("song.ac3", of: "ac3"),
        File("song.wav", of: "pcm"),
        File("long.wav", of: "pcm", by: "-rf64 always"),
        File("song.aiff", of: "pcm", by: "-c:a pcm_s16be"),
        File("song.flac", of: "flac-audio"),
        File("cover.flac", of: "flac-audio", "cover", by: "-disposition:v attached_pic"),
        File("vorbis.ogg", of: "vorbis"),
        File("song.opus", of: "opus"),
        File("flac.oga", of: "flac-audio"),
        File("short-pages.opus", of: "opus", by: "-page_duration 100000"),
        // Transport streams.
        File("plain.ts", of: "plain", "aac"),
        File("reordered.ts", of: "reordered", "ac3"),
        File("mpeg2.ts", of: "mpeg2", "mp2"),
        File("timed.m2ts", of: "reordered", "aac", by: "-mpegts_m2ts_mode 1"),
    ]

    let directory: TemporaryDirectory

    func path(of name: String) -> String { directory.path(of: name) }

    /// Makes all files.
    init() async throws {
        directory = try TemporaryDirectory(prefix: "reprise-timing")
        // Noise in the pictures, so that they take bytes.
        let inputs = [
            "-f", "lavfi", "-i", "testsrc2=size=192x108:rate=25:duration=16,noise=alls=12:allf=t:all_seed=7",
            "-f", "lavfi", "-i", "anoisesrc=seed=7:amplitude=0.2:color=pink:sample_rate=48000:duration=16",
            "-f", "lavfi", "-i", "color=red:size=400x400:rate=1:duration=1,noise=alls=90:all_seed=7",
        ]
        var encoding = ["-v", "error", "-nostdin", "-y"] + inputs
        for source in Self.sources {
            let isVideo = source.encoding.contains("-c:v")
            encoding += ["-map", isVideo ? "0" : "1"] + source.encoding.split(separator: " ").map(String.init)
            encoding += isVideo ? ["-pix_fmt", "yuv420p", "-threads", "1"] : []
            if !isVideo, !source.encoding.contains("-ac ") { encoding += ["-ac", "2"] }
            encoding += ["-fflags", "+bitexact", path(of: source.name + ".nut")]
        }
        encoding += ["-map", "2", "-frames:v", "1", "-c:v", "png", path(of: "cover.nut")]
        try await Self.run(Self.ffmpeg, encoding)
        try await copy()
    }

    /// Puts the encoded streams into their containers.
    private func copy() async throws {
        let names = Self.sources.map(\.name) + ["cover"]
        var copying = ["-v", "error", "-nostdin", "-y"]
        for name in names { copying += ["-i", path(of: name + ".nut")] }
        for file in Self.files {
            let maps = file.sources.flatMap { ["-map", "\(names.firstIndex(of: $0) ?? 0)"] }
            copying += maps + ["-c", "copy", "-fflags", "+bitexact"] + file.options
            if let start = file.start { copying += ["-ss", start] }
            copying.append(path(of: file.name))
        }
        try await Self.run(Self.ffmpeg, copying)
    }

    @discardableResult
    static func run(_ program: String?, _ arguments: [String]) async throws -> String {
        let outcome = try await ChildProcess.run(program ?? "", arguments, limit: .seconds(240))
        guard outcome.exit == .status(0) else { throw Failure(program: program, outcome: outcome) }
        return outcome.output
    }
}
