import RepriseTesting
import TestSupport
import Testing

/// A minute of audio, and usually video, in the container that the name's extension indicates.
enum MediaFile: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case mp3 = "song.mp3"
    case m4a = "song.m4a"
    case faststart = "faststart.mp4"
    case moovAtEnd = "moov-at-end.mp4"
    case matroska = "film.mkv"
    case webm = "film.webm"

    /// Length of every file, in seconds.
    static let duration = 60.0

    var testDescription: String { rawValue }

    var mediaType: String {
        switch self {
        case .mp3: "audio/mpeg"
        case .m4a: "audio/mp4"
        case .faststart, .moovAtEnd: "video/mp4"
        case .matroska: "video/x-matroska"
        case .webm: "video/webm"
        }
    }

    /// The file with the same streams in another container.
    var source: MediaFile? { self == .faststart || self == .moovAtEnd ? .matroska : nil }

    /// ffmpeg's arguments between its inputs and the output; `source` is the only input.
    var encoding: [String] {
        switch self {
        case .mp3: ["-c:a", "libmp3lame", "-compression_level", "9", "-b:a", "320k"]
        case .m4a: Self.aac + ["-b:a", "320k"]
        case .faststart: ["-c", "copy", "-movflags", "+faststart"]
        case .moovAtEnd: ["-c", "copy"]
        case .matroska:
            ["-c:v", "libx264", "-preset", "ultrafast", "-b:v", "350k"] + Self.video + Self.aac + ["-b:a", "128k"]
        case .webm:
            ["-c:v", "libvpx", "-deadline", "realtime", "-cpu-used", "16", "-b:v", "200k"] + Self.video
                + ["-c:a", "libopus", "-compression_level", "0", "-b:a", "192k"]
        }
    }

    var isVideo: Bool { self != .mp3 && self != .m4a }

    private static let video = ["-g", "20", "-pix_fmt", "yuv420p"]
    /// Without its tools the encoder takes a fifth of the time.
    private static let aac = [
        "-c:a", "aac", "-aac_coder", "fast", "-aac_tns", "0", "-aac_is", "0", "-aac_ms", "0", "-aac_pns", "0",
    ]
}

/// Makes each file when a test first asks for it; they are removed with the suite.
actor PlayerMedia {
    /// The files of the running suite.
    @TaskLocal static var current: PlayerMedia?

    /// ffmpeg could not make a file.
    struct Failure: Error { let file: MediaFile, outcome: ChildProcess.Outcome }

    private let directory: TemporaryDirectory
    private var isMade: Set<MediaFile> = []

    init() throws { directory = try TemporaryDirectory(prefix: "reprise-media") }

    /// The path of `file`.
    func path(of file: MediaFile) async throws -> String {
        let path = directory.path(of: file.rawValue)
        guard !isMade.contains(file) else { return path }
        var inputs: [String] = []
        if let source = file.source {
            inputs = ["-i", try await self.path(of: source)]
        } else {
            let pictures = ["-f", "lavfi", "-i", "testsrc2=size=160x90:rate=10:duration=\(MediaFile.duration)"]
            let sound = "anoisesrc=seed=7:amplitude=0.2:color=pink:sample_rate=48000:duration=\(MediaFile.duration)"
            inputs = (file.isVideo ? pictures : []) + ["-f", "lavfi", "-i", sound, "-ac", "2"]
        }
        let outcome = try await ChildProcess.run(
            Players.ffmpeg ?? "", ["-v", "error", "-nostdin"] + inputs + file.encoding + [path], limit: .seconds(120))
        guard outcome.exit == .status(0) else { throw Failure(file: file, outcome: outcome) }
        isMade.insert(file)
        return path
    }

    func remove() { directory.remove() }
}

/// Provides ``PlayerMedia`` to the tests of a suite while the suite runs.
struct WithPlayerMedia: SuiteTrait, TestScoping {
    func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let media = try PlayerMedia()
        let result: Result<Void, any Error>
        do { result = .success(try await PlayerMedia.$current.withValue(media) { try await function() }) } catch {
            result = .failure(error)
        }
        await media.remove()
        try result.get()
    }
}

extension Trait where Self == WithPlayerMedia {
    static var playerMedia: Self { WithPlayerMedia() }
}
