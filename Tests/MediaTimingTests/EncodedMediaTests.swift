import ByteRanges
import Foundation
import MediaTiming
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Files that ffmpeg makes: the bytes for some seconds are enough to decode them, and hardly more than enough.
@Suite(
    .serialized, .limit(minutes: 5),
    .enabled(
        if: EncodedMedia.ffmpeg != nil && EncodedMedia.ffprobe != nil,
        "ffmpeg is not installed; scripts/bootstrap test installs it"))
struct EncodedMediaTests {
    /// A decoded frame, as ffmpeg's `framemd5` prints it.
    private struct Frame: Hashable {
        let stream: Int
        /// In microseconds.
        let time: Int
        let duration: Int
        let checksum: String
    }

    @Test func theGivenBytesDecodeTheFirstSecondsAndAreFew() async throws {
        let media = try await EncodedMedia()
        let files = EncodedMedia.files.map(\.name)
        let whole = try await Self.frames(of: files.map(media.path), in: media, seconds: 6)
        let packets = try await Self.packets(of: files, in: media)
        var excesses: [Double] = []
        for seconds in [2, 5] {
            var parts: [String] = []
            for name in files {
                let bytes = try [UInt8](Data(contentsOf: URL(filePath: media.path(of: name))))
                let (start, seen) = timed(bytes, first: .seconds(seconds))
                #expect(start.basis == .exact, "\(name): \(start)")
                let given = start.ranges.union(seen)
                let least = Packet.least(packets[name] ?? [], seconds: seconds, bytes)
                #expect(
                    given.byteCount <= least + max(least / 10, 64 << 10),
                    "\(name), \(seconds) s: \(given.byteCount) of \(bytes.count), enough were \(least): \(given)")
                excesses.append(Double(given.byteCount) / Double(least))
                parts.append(try Self.sparse(bytes, start.ranges, at: media.path(of: "first-\(seconds)-\(name)")))
            }
            let decoded = try await Self.frames(of: parts, in: media, seconds: seconds)
            for (file, (frames, all)) in zip(EncodedMedia.files, zip(decoded, whole)) {
                let end = seconds * 1_000_000 - Self.shift(file, packets[file.name] ?? [])
                // ffmpeg reads uncompressed sound in pieces, of which the last goes on behind the end.
                let pcm = file.sources.firstIndex(of: "pcm")
                let wanted = all.filter { $0.time + ($0.stream == pcm ? $0.duration : 0) < end }
                let missing = wanted.subtracting(frames)
                #expect(missing.isEmpty, "\(file.name), \(seconds) s: \(missing.count) of \(wanted.count) differ")
                #expect(wanted.count >= seconds * 20, "\(file.name): \(wanted.count) frames")
            }
        }
        excesses.sort()
        let (middle, most) = (excesses[excesses.count / 2], excesses[excesses.count - 1])
        print("media timing: \(files.count) files, given ÷ least \(middle) in the middle, at most \(most)")
        media.directory.remove()
    }

    /// The packets of each file; ffprobe takes one file at a time, so two of them run.
    private static func packets(of files: [String], in media: EncodedMedia) async throws -> [String: [Packet]] {
        try await withThrowingTaskGroup(of: (String, [Packet]).self) { group in
            var packets: [String: [Packet]] = [:]
            for (index, name) in files.enumerated() {
                if index >= 2, let (name, found) = try await group.next() { packets[name] = found }
                let path = media.path(of: name)
                group.addTask { (name, try await Packet.all(of: path)) }
            }
            for try await (name, found) in group { packets[name] = found }
            return packets
        }
    }

    /// ffmpeg's times count from the first packet; an edit list may have it shown later, here in microseconds.
    private static func shift(_ file: EncodedMedia.File, _ packets: [Packet]) -> Int {
        guard file.start != nil else { return 0 }
        return Int(max(0, packets.compactMap(\.time).min() ?? 0) * 1e6)
    }

    /// The file with nothing but `ranges`: zeros between them, and cut behind the last.
    private static func sparse(_ bytes: [UInt8], _ ranges: ByteRangeSet, at path: String) throws -> String {
        try Data().write(to: URL(filePath: path))
        let file = try FileHandle(forWritingTo: URL(filePath: path))
        defer { try? file.close() }
        for range in ranges {
            try file.seek(toOffset: UInt64(range.lowerBound))
            try file.write(contentsOf: bytes[Int(range.lowerBound)..<Int(range.upperBound)])
        }
        return path
    }

    /// Decodes the first seconds of each file, all in one run.
    private static func frames(of paths: [String], in media: EncodedMedia, seconds: Int) async throws -> [Set<Frame>] {
        var arguments = ["-v", "error", "-nostdin", "-y"]
        // A little more, because ffmpeg cuts the last frame in two.
        for path in paths { arguments += ["-t", "\(Double(seconds) + 0.3)", "-i", path] }
        for (index, path) in paths.enumerated() {
            arguments += ["-map", "\(index):v?", "-map", "\(index):a?", "-f", "framemd5", path + ".frames"]
        }
        try await EncodedMedia.run(EncodedMedia.ffmpeg, arguments)
        return try paths.map { path in
            let lines = try String(contentsOfFile: path + ".frames", encoding: .utf8).split(separator: "\n")
            // `#tb 0: 1/90000` tells the unit of a stream's times.
            var units: [Int: Double] = [:]
            var frames: Set<Frame> = []
            for line in lines {
                let words = line.split(whereSeparator: { ", :/".contains($0) }).map(String.init)
                if words.first == "#tb", words.count == 4 {
                    units[Int(words[1]) ?? 0] = (Double(words[2]) ?? 1) / (Double(words[3]) ?? 1)
                }
                guard !line.hasPrefix("#"), words.count >= 6, let stream = Int(words[0]) else { continue }
                let times = words[2...3].map { Int(((Double($0) ?? 0) * (units[stream] ?? 1) * 1e6).rounded()) }
                frames.insert(Frame(stream: stream, time: times[0], duration: times[1], checksum: words[5]))
            }
            return frames
        }
    }
}

/// A packet as ffprobe finds it.
private struct Packet: Decodable {
    let pts_time: String?
    let pos: String?
    let size: String

    var time: Double? { pts_time.flatMap(Double.init) }

    private struct Output: Decodable { let packets: [Packet] }

    /// The packets of the first eight seconds.
    static func all(of path: String) async throws -> [Packet] {
        let output = try await EncodedMedia.run(
            EncodedMedia.ffprobe,
            [
                "-v", "error", "-of", "json", "-read_intervals", "%+8", "-show_entries", "packet=pts_time,pos,size",
                path,
            ])
        return try JSONDecoder().decode(Output.self, from: Data(output.utf8)).packets
    }

    /// The end of the last packet of these seconds, and what tables stand at the end of the file.
    static func least(_ packets: [Packet], seconds: Int, _ bytes: [UInt8]) -> Int64 {
        let start = max(0, packets.compactMap(\.time).min() ?? 0)
        var end: Int64 = 0
        for packet in packets {
            guard let time = packet.time, time < start + Double(seconds) else { continue }
            end = max(end, (packet.pos.flatMap(Int64.init) ?? 0) + (Int64(packet.size) ?? 0))
        }
        let data = Data(bytes)
        let signs = [Data([0x6D, 0x6F, 0x6F, 0x76]), Data([0x1C, 0x53, 0xBB, 0x6B])]
        let tables = signs.compactMap { data.range(of: $0, options: .backwards)?.lowerBound }
        guard bytes.starts(with: [0x1A, 0x45]) || data.dropFirst(4).starts(with: Data("ftyp".utf8)) else { return end }
        let table = tables.max() ?? 0
        return Int64(table) > end ? end + Int64(bytes.count - table) : end
    }
}
