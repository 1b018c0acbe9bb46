import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// MPEG-2 transport streams (ISO/IEC 13818-1 §2.4.3), by the times of their PES packets.
@Suite(.limit(minutes: 1))
struct TransportStreamTests {
    /// Frames of video every 100 ms in ten packets each, and of sound in two, from `origin` in units of 90 kHz.
    private func frames(_ count: Int, origin: Int = 126_000, sound: Int = 0) -> [[UInt8]] {
        (0..<count).map { index in
            packet(256, time: origin + index * 9000) + (0..<9).flatMap { _ in packet(256) }
                + packet(257, time: origin + sound + index * 9000, stream: 0xC0) + packet(257)
        }
    }

    private let head = packet(0) + packet(4096)

    @Test func packetsUpToTheGoalAreGiven() {
        let file = head + frames(100).flatMap { $0 }
        let (start, _) = timed(file, first: .seconds(3))
        #expect(start.format == .transportStream && start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<Int64(head.count + 30 * 12 * 188)))
        #expect(start.tail == Int64(max(0, file.count - 256 << 10))..<Int64(file.count))
    }

    @Test("ISO/IEC 13818-1 §2.4.3.7: times have 33 bits and wrap")
    func timesMayWrap() {
        let file = head + frames(100, origin: 1 << 33 - 90_000).flatMap { $0 }
        #expect(timed(file, first: .seconds(3)).0.ranges == ByteRangeSet(0..<Int64(head.count + 30 * 12 * 188)))
    }

    @Test func theEarliestStreamIsTheBeginning() {
        // The sound is 500 ms earlier than the pictures beside it: 25 frames of these, and 30 of the sound.
        let file = head + frames(100, sound: -45_000).flatMap { $0 }
        #expect(timed(file, first: .seconds(3)).0.ranges == ByteRangeSet(0..<Int64(head.count + 30 * 12 * 188)))
    }

    @Test func framesInDecodingOrderAreKept() {
        let times = [0, 4, 2, 1, 3, 8, 6, 5, 7, 12, 10, 9, 11]
        let file = times.flatMap { packet(256, time: $0 * 9000) + packet(256) }
        // Frames 0, 2 and 1 are shown before 250 ms.
        #expect(timed(file, first: .milliseconds(250)).0.ranges == ByteRangeSet(0..<4 * 376))
    }

    @Test func longerPacketsAreKnown() {
        let packets = frames(100).flatMap { $0 }
        let count = packets.count / 188
        let timed192 = (0..<count).flatMap { big(0) + packets[$0 * 188..<($0 + 1) * 188] }
        let checked204 = (0..<count).flatMap { packets[$0 * 188..<($0 + 1) * 188] + filler(16) }
        #expect(timed(timed192, first: .seconds(3)).0.ranges == ByteRangeSet(0..<30 * 12 * 192))
        #expect(timed(checked204, first: .seconds(3)).0.ranges == ByteRangeSet(0..<30 * 12 * 204 - 16))
    }

    @Test func damageIsPassedUpToALimit() {
        let parts = frames(100)
        let file = head + parts[..<5].flatMap { $0 } + filler(1000) + parts[5...].flatMap { $0 }
        #expect(timed(file, first: .seconds(3)).0.ranges == ByteRangeSet(0..<Int64(head.count + 30 * 12 * 188 + 1000)))
        let broken = head + parts[..<5].flatMap { $0 } + filler(400_000)
        #expect(timed(broken, first: .seconds(3)).0.basis == .firstBytes)
    }

    @Test func theAverageIsUsedBeyondTheWalk() {
        var limits = TimingLimits()
        limits.bytesSeen = 60 << 10
        let file = head + frames(300).flatMap { $0 }
        let (start, _) = timed(file, first: .seconds(10), limits: limits)
        let exact = 100 * 12 * 188
        #expect(start.basis == .average)
        #expect((exact..<exact * 12 / 10 + 64 << 10).contains(Int(start.ranges.byteCount)))
    }
}
