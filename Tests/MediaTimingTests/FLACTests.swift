import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// Native FLAC (RFC 9639), whose frames are found by their headers.
@Suite(.limit(minutes: 1))
struct FLACTests {
    /// A metadata block (§8.1).
    private func block(_ type: UInt8, isLast: Bool = false, _ content: [UInt8]) -> [UInt8] {
        [type | (isLast ? 0x80 : 0)] + big(content.count, 3) + content
    }

    /// 44.1 kHz, blocks of 4,096 samples, `count` samples in all.
    private func information(_ count: Int) -> [UInt8] {
        let rateAndCount = 44_100 << 44 | 1 << 41 | 15 << 36 | count
        return big(4096, 2) + big(4096, 2) + big(0, 6) + big(rateAndCount, 8) + big(0, 16)
    }

    /// A frame of 4,096 samples in 2,000 bytes; its number is below 2,048 (§9.1).
    private func frame(_ number: Int, isDamaged: Bool = false) -> [UInt8] {
        let coded = number < 128 ? [UInt8(number)] : [0xC0 | UInt8(number >> 6), 0x80 | UInt8(number & 63)]
        let header: [UInt8] = [0xFF, 0xF8, 0xC9, 0x18] + coded
        var checksum: UInt8 = 0
        for byte in header {
            checksum ^= byte
            for _ in 0..<8 { checksum = checksum & 0x80 == 0 ? checksum << 1 : checksum << 1 ^ 7 }
        }
        // The audio holds what looks like a header, but for its checksum.
        let audio = filler(500) + header + [checksum ^ 1] + filler(2000)
        return Array((header + [isDamaged ? ~checksum : checksum] + audio).prefix(2000))
    }

    @Test func framesAreFoundByTheirChecksums() {
        let head = Array("fLaC".utf8) + block(0, information(0)) + block(6, isLast: true, filler(70_000))
        let file = head + (0..<300).flatMap { frame($0) }
        let (start, _) = timed(file, first: .seconds(10))
        // Frame 108 begins behind ten seconds, which is 107.7 frames.
        #expect(start.format == .flac && start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<Int64(head.count + 108 * 2000)))
        #expect(
            timed(id3(5000) + file, first: .seconds(10)).0.ranges.byteCount == Int64(5010 + head.count + 108 * 2000))
    }

    @Test func aDamagedFrameIsPassed() {
        let head = Array("fLaC".utf8) + block(0, isLast: true, information(0))
        let file = head + (0..<300).flatMap { frame($0, isDamaged: $0 == 108) }
        #expect(timed(file, first: .seconds(10)).0.ranges == ByteRangeSet(0..<Int64(head.count + 109 * 2000)))
    }

    @Test("RFC 9639 §8.5: beyond the walk a seek point is used, and without one the proportion")
    func seekPointsAreUsedBeyondTheWalk() {
        let points =
            (0..<5).flatMap { big($0 * 441_000, 8) + big($0 * 100_000, 8) + big(4096, 2) } + big(-1, 8) + big(0, 10)
        var limits = TimingLimits()
        limits.bytesSeen = 60 << 10
        for table in [block(3, points), []] {
            let head = Array("fLaC".utf8) + block(0, information(44_100 * 60)) + table + block(1, isLast: true, [])
            let file = head + (0..<300).flatMap { frame($0) }
            let (start, _) = timed(file, first: .seconds(15), limits: limits)
            let wanted = table.isEmpty ? 150_000 * 11 / 10 + 64 << 10 : 200_000
            #expect(start.basis == (table.isEmpty ? .proportion : .coarseTable))
            #expect(start.ranges == ByteRangeSet(0..<Int64(head.count + wanted)))
        }
    }
}
