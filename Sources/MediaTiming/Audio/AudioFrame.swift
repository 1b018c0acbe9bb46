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
