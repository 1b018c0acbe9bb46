import Foundation

/// The tracks with subtitles in an MP4 file.
///
/// ffmpeg enables the first of them if the playlist has no default, and players show it then.
struct SubtitleTracks {
    private static let handlers: Set<String> = ["sbtl", "subt", "text"]
    private let file: FileHandle
    /// Where the movie box begins, and the box.
    private var movie: (start: UInt64, bytes: [UInt8])?

    /// Disables those in the file at `path` (ISO/IEC 14496-12 §8.3.2): a player shows them when it is told to.
    static func disable(in path: String) throws {
        let tracks = try SubtitleTracks(path)
        defer { try? tracks.file.close() }
        guard let movie = tracks.movie else { return }
        for place in tracks.enabledFlags {
            try tracks.file.seek(toOffset: movie.start + UInt64(place))
            try tracks.file.write(contentsOf: [movie.bytes[place] & ~1])
        }
    }

    private init(_ path: String) throws {
        file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        var start: UInt64 = 0
        while let header = try file.read(upToCount: 16).map({ [UInt8]($0) }), header.count >= 8 {
            var size = UInt64(Self.number(header[0..<4]))
            if size == 1, header.count == 16 { size = UInt64(Self.number(header[8..<16])) }
            guard size >= 8 else { return }
            try file.seek(toOffset: start)
            if header[4..<8].elementsEqual("moov".utf8) {
                movie = try file.read(upToCount: Int(size)).map { (start, [UInt8]($0)) }
                return
            }
            start += size
            try file.seek(toOffset: start)
        }
    }

    /// Where the last bytes of the flags are, in the movie box.
    private var enabledFlags: [Int] {
        guard let movie else { return [] }
        return boxes(in: 8..<movie.bytes.count, named: "trak").compactMap { track in
            guard let header = boxes(in: track, named: "tkhd").first, header.count > 4,
                let media = boxes(in: track, named: "mdia").first,
                let handler = boxes(in: media, named: "hdlr").first, handler.count >= 12
            else { return nil }
            let type = movie.bytes[handler].dropFirst(8).prefix(4)
            return Self.handlers.contains(String(decoding: type, as: UTF8.self)) ? header.lowerBound + 3 : nil
        }
    }

    /// The contents of the boxes of this type in `range`.
    private func boxes(in range: Range<Int>, named type: String) -> [Range<Int>] {
        guard let movie else { return [] }
        var (found, position): ([Range<Int>], Int) = ([], range.lowerBound)
        while position + 8 <= range.upperBound {
            let size = Self.number(movie.bytes[position..<position + 4])
            guard size >= 8, size <= range.upperBound - position else { break }
            if movie.bytes[position + 4..<position + 8].elementsEqual(type.utf8) {
                found.append(position + 8..<position + size)
            }
            position += size
        }
        return found
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int {
        bytes.reduce(0) { ($0 & (Int.max >> 9)) << 8 | Int($1) }
    }
}
