import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// Sound whose frames or rate tell the time.
@Suite(.limit(minutes: 1))
struct AudioTests {
    private let second = 44_100.0 / 1152

    /// Bytes of the frames that give `seconds`, and two more for the decoder.
    private func length(_ seconds: Double, of frame: [UInt8]) -> Int {
        (Int((seconds * second).rounded(.up)) + 2) * frame.count
    }

    @Test("ISO/IEC 11172-3 §2.4.1.3: frames of one rate are counted")
    func framesAreCounted() {
        let frame = mp3Frame()
        let file = (0..<900).flatMap { _ in frame }
        let (start, _) = timed(file, first: .seconds(5))
        #expect(start.format == .mpegAudio && start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<Int64(length(5, of: frame))))
        #expect(start.tail == Int64(file.count - 160)..<Int64(file.count))
    }

    @Test("ID3v2.4 §3.1: several tags, a footer, and padding that no size counts")
    func tagsArePassedWithoutBeingRead() {
        let frame = mp3Frame()
        let tags = id3(2000, footer: true) + id3(300_000) + [UInt8](repeating: 0, count: 700)
        let (start, seen) = timed(tags + (0..<900).flatMap { _ in frame }, first: .seconds(2))
        #expect(start.ranges == ByteRangeSet(0..<Int64(tags.count + length(2, of: frame))))
        // The cover belongs to the result, but is not looked at.
        #expect(!seen.contains(100_000) && start.basis == .exact)
    }

    @Test func damageIsPassedAndTagsAtTheEndAreTheEnd() {
        let frame = mp3Frame()
        let frames = (0..<40).flatMap { _ in frame }
        let damaged = frames + filler(3000) + frames
        #expect(
            timed(damaged, first: .milliseconds(1500)).0.ranges
                == ByteRangeSet(0..<Int64(length(1.5, of: frame) + 3000)))
        let tagged = frames + Array("TAG".utf8) + filler(125)
        let (start, _) = timed(tagged, first: .seconds(5))
        #expect(start.basis == .exact && start.ranges == ByteRangeSet(0..<Int64(tagged.count)))
    }

    /// Limits that end the walk before the goal.
    private var short: TimingLimits {
        var limits = TimingLimits()
        limits.bytesSeen = 40 << 10
        return limits
    }

    @Test("Xing: beyond the walk the table of contents leads to the next percent")
    func aTableOfContentsIsUsedBeyondTheWalk() {
        let frame = mp3Frame()
        // 10,000 frames of which each percent of time takes as many 256ths as its number.
        let percents = (0..<100).map { UInt8($0) }
        let header = Array("Xing".utf8) + big(7) + big(10_000) + big(5_000_000) + percents
        let first = mp3Frame([UInt8](repeating: 0, count: 32) + header)
        let file = first + (0..<900).flatMap { _ in frame }
        var timer = MediaTimer(first: .seconds(50), completeLength: 4_000_000, limits: short)
        let start = finish(&timer, file)
        // 50 s are 19.1 % of 261 s: the twentieth point, 20/256 of the bytes that the file has.
        #expect(start.basis == .coarseTable && start.ranges == ByteRangeSet(0..<4_000_000 / 256 * 20))
        #expect(timed(file, first: .seconds(1)).0.basis == .exact)
    }

    @Test("VBRI: beyond the walk the entries are added up")
    func entriesAreAddedUp() {
        let header =
            Array("VBRI".utf8) + big(1, 2) + big(0, 2) + big(0, 2) + big(4_000_000) + big(10_000) + big(100, 2)
            + big(2, 2) + big(2, 2) + big(100, 2) + (0..<100).flatMap { _ in big(20_000, 2) }
        let first = mp3Frame(rate: 14, [UInt8](repeating: 0, count: 32) + header)
        let file = first + (0..<200).flatMap { _ in mp3Frame() }
        var timer = MediaTimer(first: .seconds(50), completeLength: 4_100_000, limits: short)
        let start = finish(&timer, file)
        // An entry takes 100 frames, 2.6 s, and 40,000 bytes: 50 s end with the twentieth.
        #expect(start.basis == .coarseTable && start.ranges == ByteRangeSet(0..<Int64(first.count + 20 * 40_000)))
    }

    @Test func withoutATableTheAverageIsUsedWithAMargin() {
        var timer = MediaTimer(first: .seconds(50), completeLength: 4_000_000, limits: short)
        let start = finish(&timer, (0..<900).flatMap { _ in mp3Frame() })
        let exact = 50 * second * Double(mp3Frame().count)
        #expect(start.basis == .average)
        #expect(Double(start.ranges.byteCount) > exact && Double(start.ranges.byteCount) < exact * 1.15 + 70_000)
    }

    /// Gives the timer `file`, and zeros behind it.
    private func finish(_ timer: inout MediaTimer, _ file: [UInt8]) -> MediaStart {
        while true {
            switch timer.next() {
            case .done(let start): return start
            case .needs(let need):
                let bytes = need.window.map { $0 < file.count ? file[Int($0)] : 0 }
                timer.receive(bytes, at: need.window.lowerBound)
            }
        }
    }

    @Test("ISO/IEC 14496-3 §1.A.2.2: ADTS frames tell their size")
    func adtsFramesAreCounted() {
        // 48 kHz, 300 bytes, which are 37 × 8 + 4: a fifth of a second is 9.4 frames.
        let frame: [UInt8] = [0xFF, 0xF1, 0x4C, 0x80, 37, 4 << 5 | 0x1F, 0xFC] + filler(293)
        let file = (0..<200).flatMap { _ in frame }
        let (start, _) = timed(file, first: .milliseconds(200))
        #expect(start.format == .adts && start.ranges == ByteRangeSet(0..<12 * 300))
        #expect(timed(id3(50) + file, first: .milliseconds(200)).0.format == .adts)
    }

    @Test func rawSoundIsARate() {
        let format =
            little(16) + little(1, 2) + little(2, 2) + little(48_000) + little(192_000) + little(4, 2) + little(16, 2)
        let data = filler(1_000_000)
        let wave =
            Array("RIFF".utf8) + little(0) + Array("WAVEfmt ".utf8) + format + Array("data".utf8) + little(1_000_000)
        let head = Int64(wave.count)
        #expect(timed(wave + data, first: .seconds(2)).0.ranges == ByteRangeSet(0..<head + 384_000))
        #expect(timed(wave + data, first: .seconds(9)).0.ranges == ByteRangeSet(0..<head + 1_000_000))
        let long =
            Array("RF64".utf8) + little(-1) + Array("WAVEds64".utf8) + little(28) + little(0, 8) + little(500_000, 8)
            + little(0, 12) + Array("fmt ".utf8) + format + Array("data".utf8) + little(-1)
        #expect(timed(long + data, first: .seconds(9)).0.ranges == ByteRangeSet(0..<Int64(long.count) + 500_000))
        // MP3 in WAVE has only an average rate.
        let compressed = wave.prefix(20) + little(0x55, 2) + wave.dropFirst(22)
        #expect(timed(compressed + data, first: .seconds(2)).0.basis == .firstBytes)
    }

    @Test func aiffTellsItsRateInEightyBits() {
        let common = big(2, 2) + big(100_000) + big(16, 2) + [0x40, 0x0E, 0xAC, 0x44] + big(0, 6)
        let head =
            Array("FORM".utf8) + big(0) + Array("AIFFCOMM".utf8) + big(18) + common + Array("SSND".utf8) + big(400_008)
            + big(0, 8)
        let (start, _) = timed(head + filler(400_000), first: .seconds(1))
        #expect(start.format == .aiff && start.ranges == ByteRangeSet(0..<Int64(head.count) + 176_400))
    }
}
