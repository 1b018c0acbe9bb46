import ByteRanges

/// Walks frames: MPEG audio, AAC in ADTS, AC-3.
struct AudioFrameReader: FormatReader {
    var format: MediaFormat { syntax.format }
    private let syntax: AudioFrame.Syntax
    private let goal: Double
    private let start: Int64
    private var position: Int64
    private var elapsed = 0.0
    private var frames = 0
    private let limits: TimingLimits
    private var seekTable: SeekTable?

    /// Damaged bytes between frames are searched so far.
    private static let longestDamage: Int64 = 64 << 10

    /// `start` is where the first frame begins, or what is searched for it.
    init(_ syntax: AudioFrame.Syntax, at start: Int64, goal: Double, limits: TimingLimits) {
        (self.syntax, self.goal, self.start, self.limits) = (syntax, goal, start, limits)
        position = start
    }

    var keptFrom: Int64 { position }

    var outlook: Outlook {
        Outlook(
            headers: ByteRangeSet(0..<position), mediaStart: start, position: position, elapsed: max(0, elapsed),
            duration: seekTable?.duration, point: seekTable?.position(of: goal))
    }

    mutating func read(_ bytes: MediaBytes) throws(Stop) -> ByteRangeSet {
        if position == start, syntax == .mpegAudio, seekTable == nil { try readSeekTable(bytes) }
        let view = ByteView(bytes)
        while elapsed < goal, position < bytes.file.upperBound {
            let header = try view.prefix(at: position, count: AudioFrame.Syntax.headerLength)
            guard let frame = syntax.frame(header) else {
                guard try resume(view) else { break }
                continue
            }
            guard frames < limits.steps else { throw .malformed }
            frames += 1
            // A decoder gives nothing for its first frame or two.
            if frames > 2 { elapsed += frame.duration }
            position += Int64(frame.length)
        }
        return ByteRangeSet(0..<position)
    }

    /// Goes to the next two frames behind damage; `false` at the tags or the end of the file.
    private mutating func resume(_ view: ByteView) throws(Stop) -> Bool {
        let room = Int(min(Self.longestDamage, view.bounds.upperBound - position))
        let rest = try view.slice(at: position, atLeast: room).prefix(room)
        if rest.has("TAG") || rest.has("APETAGEX") || rest.has("LYRICSBEGIN") { return end(view) }
        if let offset = syntax.firstFrame(in: rest, confirmedBy: 2, from: 1) {
            position += Int64(offset)
            return true
        }
        guard Int64(room) == view.bounds.upperBound - position else { throw .malformed }
        return end(view)
    }

    private mutating func end(_ view: ByteView) -> Bool {
        position = view.bounds.upperBound
        return false
    }

    private mutating func readSeekTable(_ bytes: MediaBytes) throws(Stop) {
        let first = try ByteView(bytes).prefix(at: position, count: SeekTable.longestFrame)
        guard let table = SeekTable(first, at: position, length: bytes.length) else { return }
        seekTable = table
        // Players skip the frame with the table.
        position += Int64(table.frameLength)
    }
}

extension AudioFrame.Syntax {
    /// Where the first frame begins that is followed by frames, `count` in all, or by the end of the bytes.
    func firstFrame(in bytes: ArraySlice<UInt8>, confirmedBy count: Int, from start: Int = 0) -> Int? {
        var index = start
        while index + Self.headerLength <= bytes.count {
            if isFrame(in: bytes, at: index, confirmedBy: count) { return index }
            index += 1
        }
        return nil
    }

    /// Whether `count` frames follow one another at `index`, or fewer at the end of the bytes.
    func isFrame(in bytes: ArraySlice<UInt8>, at index: Int, confirmedBy count: Int) -> Bool {
        var index = index
        var found = 0
        while found < count, index + Self.headerLength <= bytes.count {
            guard let frame = frame(bytes.dropFirst(index)) else { return false }
            found += 1
            index += frame.length
        }
        return found > 0
    }
}

/// A frame whose header tells its size and duration.
struct AudioFrame: Hashable {
    /// In bytes, the header included.
    let length: Int
    /// In seconds.
    let duration: Double

    /// A format that consists of such frames.
    enum Syntax: Sendable {
        case mpegAudio, adts, ac3

        /// So many bytes tell a frame.
        static let headerLength = 8

        var format: MediaFormat {
            switch self {
            case .mpegAudio: .mpegAudio
            case .adts: .adts
            case .ac3: .ac3
            }
        }

        /// The frame that `bytes` begin with, at least ``headerLength`` of them.
        func frame(_ bytes: ArraySlice<UInt8>) -> AudioFrame? {
            guard bytes.count >= Self.headerLength else { return nil }
            return switch self {
            case .mpegAudio: MPEGAudioHeader(bytes)?.frame
            case .adts: AudioFrame(adts: bytes)
            case .ac3: AudioFrame(ac3: bytes)
            }
        }
    }
}

/// The header of an MPEG audio frame (ISO/IEC 11172-3 §2.4.1.3, 13818-3 §2.4.2.3).
struct MPEGAudioHeader {
    /// Whether the sampling rates are those of MPEG-1.
    let isMPEG1: Bool
    let isMono: Bool
    let sampleRate: Int
    let frame: AudioFrame

    /// Samples of a frame.
    var samples: Int { Int((frame.duration * Double(sampleRate)).rounded()) }

    /// Kilobits per second by layer, for MPEG-1 and for the lower sampling rates.
    private static let rates: [[Int]] = [
        [32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
        [32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
        [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
        [32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
        [8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
    ]

    init?(_ bytes: ArraySlice<UInt8>) {
        guard bytes.byte(0) == 0xFF, bytes.byte(1) & 0xE0 == 0xE0 else { return nil }
        let version = bytes.byte(1) >> 3 & 3
        let layer = 4 - Int(bytes.byte(1) >> 1 & 3)
        let rateIndex = Int(bytes.byte(2) >> 4)
        let samplingIndex = Int(bytes.byte(2) >> 2 & 3)
        // Version 1 and layer 4 are reserved; index 0 is a free rate, which is not told.
        guard version != 1, layer < 4, (1...14).contains(rateIndex), samplingIndex < 3 else { return nil }
        isMPEG1 = version == 3
        isMono = bytes.byte(3) >> 6 == 3
        sampleRate = [44_100, 48_000, 32_000][samplingIndex] / (isMPEG1 ? 1 : version == 2 ? 2 : 4)
        let row = isMPEG1 ? layer - 1 : layer == 1 ? 3 : 4
        let rate = Self.rates[row][rateIndex - 1] * 1000
        let padding = Int(bytes.byte(2) >> 1 & 1)
        let samples = layer == 1 ? 384 : layer == 3 && !isMPEG1 ? 576 : 1152
        let length = layer == 1 ? (12 * rate / sampleRate + padding) * 4 : samples / 8 * rate / sampleRate + padding
        frame = AudioFrame(length: length, duration: Double(samples) / Double(sampleRate))
    }
}

extension AudioFrame {
    private static let adtsRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8000, 7350,
    ]

    /// AAC in ADTS (ISO/IEC 14496-3 §1.A.2.2).
    init?(adts bytes: ArraySlice<UInt8>) {
        guard bytes.byte(0) == 0xFF, bytes.byte(1) & 0xF6 == 0xF0 else { return nil }
        let rateIndex = Int(bytes.byte(2) >> 2 & 15)
        let length = Int(bytes.number(at: 3, count: 3) >> 5 & 0x1FFF)
        guard rateIndex < Self.adtsRates.count, length >= 7 else { return nil }
        let blocks = Int(bytes.byte(6) & 3) + 1
        self.init(length: length, duration: Double(1024 * blocks) / Double(Self.adtsRates[rateIndex]))
    }

    /// AC-3 and Enhanced AC-3 (ETSI TS 102 366 §4.3, §E.1.2).
    init?(ac3 bytes: ArraySlice<UInt8>) {
        guard bytes.byte(0) == 0x0B, bytes.byte(1) == 0x77 else { return nil }
        let rates = [48_000, 44_100, 32_000]
        let rateIndex = Int(bytes.byte(4) >> 6)
        if bytes.byte(5) >> 3 > 10 {
            // Enhanced AC-3; dependent substreams add no time.
            let words = Int(bytes.number(at: 2, count: 2) & 0x7FF) + 1
            let isDependent = bytes.byte(2) >> 6 == 1
            let code = Int(bytes.byte(4) >> 4 & 3)
            let rate = rateIndex < 3 ? rates[rateIndex] : code < 3 ? rates[code] / 2 : 0
            guard rate > 0 else { return nil }
            let blocks = rateIndex < 3 ? [1, 2, 3, 6][code] : 6
            self.init(length: words * 2, duration: isDependent ? 0 : Double(256 * blocks) / Double(rate))
            return
        }
        let kilobits = [32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640]
        let code = Int(bytes.byte(4) & 63)
        guard rateIndex < 3, code / 2 < kilobits.count else { return nil }
        let rate = rates[rateIndex]
        // 1,536 samples; at 44.1 kHz an odd code has a word more.
        let words = kilobits[code / 2] * 96_000 / rate + (rateIndex == 1 ? code % 2 : 0)
        self.init(length: words * 2, duration: 1536 / Double(rate))
    }
}
