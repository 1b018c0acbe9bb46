import Foundation
import MediaTiming

/// The tracks with subtitles in an MP4 file.
///
/// ffmpeg enables the first of them if the playlist has no default, and players show it then.
enum SubtitleTracks {
    /// Disables those in the file at `path` (ISO/IEC 14496-12 §8.3.2): a player shows them when it is told to.
    static func disable(in path: String) throws {
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        defer { try? file.close() }
        guard let movie = try movie(in: file) else { return }
        for track in TrackDescription.tracks(in: movie.bytes) ?? [] where track.kind == .subtitles {
            guard let place = track.flags else { continue }
            try file.seek(toOffset: movie.start + UInt64(place))
            try file.write(contentsOf: [movie.bytes[place] & ~1])
        }
    }

    /// Where the movie box begins, and the box.
    private static func movie(in file: FileHandle) throws -> (start: UInt64, bytes: [UInt8])? {
        var start: UInt64 = 0
        while let header = try file.read(upToCount: 16).map({ [UInt8]($0) }), header.count >= 8 {
            func number(_ bytes: Range<Int>) -> UInt64 { header[bytes].reduce(0) { $0 << 8 | UInt64($1) } }
            var size = number(0..<4)
            if size == 1, header.count == 16 { size = number(8..<16) }
            guard size >= 8, size < UInt64(Int.max) - start else { return nil }
            if header[4..<8].elementsEqual("moov".utf8) {
                try file.seek(toOffset: start)
                return try file.read(upToCount: Int(size)).map { (start, [UInt8]($0)) }
            }
            start += size
            try file.seek(toOffset: start)
        }
        return nil
    }
}
