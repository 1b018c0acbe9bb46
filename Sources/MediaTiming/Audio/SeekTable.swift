/// The first frame of an MP3 file if it has no sound but a table: Xing, Info or VBRI.
struct SeekTable: Sendable {
    /// No frame is longer, the table included.
    static let longestFrame = 2881

    /// The size of the frame that holds the table, in bytes.
    let frameLength: Int
    /// In seconds, if the table tells the number of frames.
    let duration: Double?
    /// Bytes of the file at equal distances in time, the first at 0 s and the last at the end; may be empty.
    private let points: [Int64]

    /// The table in `bytes`, which begin at `position` with the header of a frame.
    init?(_ bytes: ArraySlice<UInt8>, at position: Int64, length: Int64?) {
        guard bytes.count >= AudioFrame.Syntax.headerLength, let header = MPEGAudioHeader(bytes) else { return nil }
        let frame = bytes.prefix(header.frame.length)
        let sideInformation = header.isMPEG1 ? (header.isMono ? 17 : 32) : (header.isMono ? 9 : 17)
        if frame.has("Xing", at: 4 + sideInformation) || frame.has("Info", at: 4 + sideInformation) {
            self.init(xing: frame, at: 4 + sideInformation, header: header, position: position, length: length)
        } else if frame.has("VBRI", at: 36) {
            self.init(vbri: frame, at: 36, header: header, position: position)
        } else {
            return nil
        }
    }

    private init(
        xing frame: ArraySlice<UInt8>, at start: Int, header: MPEGAudioHeader, position: Int64, length: Int64?
    ) {
        frameLength = header.frame.length
        var place = start + 8
        let flags = frame.count >= place ? frame.number(at: start + 4, count: 4) : 0
        func next(_ flag: UInt64, size: Int) -> Int? {
            guard flags & flag != 0, frame.count >= place + size else { return nil }
            defer { place += size }
            return place
        }
        let frames = next(1, size: 4).map { Double(frame.number(at: $0, count: 4)) }
        let told = next(2, size: 4).map { Int64(frame.number(at: $0, count: 4)) }
        duration = frames.flatMap { $0 > 0 ? $0 * header.frame.duration : nil }
        // The number in the header and the length of the file differ in many files; the smaller one is safe.
        let rest = length.map { $0 - position }
        let size = told.map { min($0, rest ?? $0) } ?? rest
        if let table = next(4, size: 100), let size, size > 0 {
            points = (0..<100).map { position + size / 256 * Int64(frame.byte(table + $0)) } + [position + size]
        } else {
            points = []
        }
    }

    private init(vbri frame: ArraySlice<UInt8>, at start: Int, header: MPEGAudioHeader, position: Int64) {
        frameLength = header.frame.length
        guard frame.count >= start + 26 else {
            (duration, points) = (nil, [])
            return
        }
        let frames = Double(frame.number(at: start + 14, count: 4))
        let scale = Int64(frame.number(at: start + 20, count: 2))
        let size = Int(frame.number(at: start + 22, count: 2))
        let perEntry = Double(frame.number(at: start + 24, count: 2))
        let isReadable = (1...4).contains(size) && perEntry > 0
        let fitting = isReadable ? (frame.count - start - 26) / size : 0
        let count = min(Int(frame.number(at: start + 18, count: 2)), fitting)
        var place = position + Int64(header.frame.length)
        var found = [place]
        for index in 0..<count {
            // At most 65,535 × 2^32 each.
            place += scale * Int64(frame.number(at: start + 26 + index * size, count: size))
            found.append(place)
        }
        points = count > 0 ? found : []
        duration =
            frames > 0
            ? (count > 0 ? Double(count) * perEntry : frames) * header.frame.duration : nil
    }

    /// A place behind which `time` lies: the next point that the table has.
    func position(of time: Double) -> Int64? {
        guard let duration, duration > 0, points.count > 1 else { return nil }
        let index = (time / duration * Double(points.count - 1)).rounded(.up)
        return points[Int(min(max(0, index), Double(points.count - 1)))]
    }
}
