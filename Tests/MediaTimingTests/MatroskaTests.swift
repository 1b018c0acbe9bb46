import ByteRanges
import MediaTiming
import TestLimits
import Testing

/// Matroska and WebM (RFC 9559): clusters of blocks, and cues at either end.
@Suite(.limit(minutes: 1))
struct MatroskaTests {
    private let header = element(0x1A45_DFA3, element(0x4282, Array("webm".utf8)))

    /// Milliseconds as units; video as track 1, sound as track 2, whose decoder drops `delay` milliseconds.
    private func description(delay: Int = 0) -> [UInt8] {
        let duration = element(0x4489, big(Int(bitPattern: UInt(60_000.0.bitPattern)), 8))
        let video = element(0xAE, element(0xD7, [1]), element(0x83, [1]))
        let sound = element(0xAE, element(0xD7, [2]), element(0x83, [2]), element(0x56AA, big(delay * 1_000_000)))
        let subtitles = element(0xAE, element(0xD7, [3]), element(0x83, [17]))
        return element(0x1549_A966, element(0x2AD7B1, big(1_000_000)), duration)
            + element(0x1654_AE6B, video, sound, subtitles)
    }

    /// A block of `track`, `time` milliseconds after its cluster's.
    private func block(_ track: UInt8, _ time: Int, size: Int = 1000, inGroup: Bool = false) -> [UInt8] {
        let content = [0x80 | track] + big(time, 2) + [0] + filler(size)
        return inGroup
            ? element(0xA0, element(0x75A1, filler(20)), element(0xA1, content), element(0xFB, [1]))
            : element(0xA3, content)
    }

    /// A cluster of a second: a frame and a sound every 100 ms.
    private func cluster(_ second: Int, isUnknown: Bool = false, inGroup: Bool = false) -> [UInt8] {
        let blocks = (0..<10).flatMap { block(2, $0 * 100, size: 200) + block(1, $0 * 100, inGroup: inGroup) }
        return element(0x1F43_B675, isUnknown: isUnknown, element(0xE7, big(second * 1000)), blocks)
    }

    private func cues(_ points: [(time: Int, position: Int)]) -> [UInt8] {
        element(
            0x1C53_BB6B,
            points.flatMap {
                element(
                    0xBB, element(0xB3, big($0.time)),
                    element(0xB7, element(0xF7, [1]), element(0xF1, big($0.position))))
            })
    }

    private func segment(_ content: [UInt8]..., isUnknown: Bool = false) -> [UInt8] {
        header + element(0x1853_8067, isUnknown: isUnknown, content.flatMap { $0 })
    }

    /// The end of the last block before `time` milliseconds in a file of ``cluster(_:)``s behind `head` bytes.
    private func end(before time: Int, head: Int, inGroup: Bool = false) -> Int64 {
        let (one, two) = (block(1, 0, inGroup: inGroup).count, block(2, 0, size: 200).count)
        let length = cluster(0, inGroup: inGroup).count
        let inside = (time % 1000 + 99) / 100
        let start = length - 10 * (one + two)
        return Int64(head + time / 1000 * length + (inside == 0 ? 0 : start + inside * (one + two)))
    }

    @Test(arguments: [false, true], [false, true])
    func clustersAreWalkedToTheBlock(isUnknown: Bool, inGroup: Bool) {
        let clusters = (0..<20).flatMap { cluster($0, isUnknown: isUnknown, inGroup: inGroup) }
        let file = segment(description(), clusters, isUnknown: isUnknown)
        let head = segment(description()).count
        let (start, _) = timed(file, first: .milliseconds(3450))
        #expect(start.format == .matroska && start.basis == .exact)
        #expect(start.ranges == ByteRangeSet(0..<end(before: 3450, head: head, inGroup: inGroup)))
    }

    @Test func cuesAtTheEndAreGivenToo() {
        func head(_ position: Int) -> [UInt8] {
            element(0x114D_9B74, element(0x4DBB, element(0x53AB, big(0x1C53_BB6B)), element(0x53AC, big(position, 8))))
                + description()
        }
        let clusters = (0..<20).flatMap { cluster($0) }
        let index = cues((0..<20).map { ($0 * 1000, $0 * 1000) })
        let position = head(0).count + clusters.count
        let file = segment(head(position), clusters, index, element(0xEC, filler(30_000)))
        let (start, _) = timed(file, first: .seconds(2))
        let place = Int64(segment(head(0)).count + clusters.count)
        #expect(
            start.ranges
                == [0..<end(before: 2000, head: segment(head(0)).count), place..<place + Int64(index.count)])
        // A place where no cues are, or behind the end, is ignored.
        for wrong in [position - 1, 100_000_000, head(0).count, position / 2] {
            let file = segment(head(wrong), clusters, index)
            let (start, _) = timed(file, first: .seconds(15))
            #expect(start.basis == .exact && start.ranges.spanCount == 1)
        }
    }

    @Test func cuesAtTheEndAreLeftOutWhereTheyCostAllBeforeThem() {
        let seek = element(
            0x114D_9B74, element(0x4DBB, element(0x53AB, big(0x1C53_BB6B)), element(0x53AC, big(1 << 20, 8))))
        let head = segment(seek + description()).count
        let clusters = (0..<20).flatMap { cluster($0) }
        let file = segment(seek + description(), clusters, filler(2 << 20))
        var timer = MediaTimer(first: .seconds(2), completeLength: Int64(file.count))
        var (isLast, windows) = (false, [Range<Int64>]())
        while case .needs(let need) = timer.next() {
            windows.append(need.window)
            // The first time it turns out when they are asked for.
            #expect(need.isOptional == (need.window.lowerBound > 1 << 20))
            guard !need.isOptional else {
                guard !isLast else { return #expect(Bool(false), "asked again for \(need.window)") }
                isLast = true
                timer.comesInOrder = true
                continue
            }
            timer.receive(
                Array(file[Int(need.window.lowerBound)..<Int(need.window.upperBound)]), at: need.window.lowerBound)
        }
        #expect(isLast)
        guard case .done(let start) = timer.next() else { return }
        #expect(start.basis == .exact && start.ranges == ByteRangeSet(0..<end(before: 2000, head: head)))

        var second = MediaTimer(first: .seconds(2), completeLength: Int64(file.count))
        second.comesInOrder = true
        while case .needs(let need) = second.next() {
            #expect(!need.isOptional)
            second.receive(
                Array(file[Int(need.window.lowerBound)..<Int(need.window.upperBound)]), at: need.window.lowerBound)
        }
        #expect(second.next() == .done(start))
    }

    @Test func cuesAreUsedBeyondTheWalk() {
        var limits = TimingLimits()
        limits.bytesSeen = 60 << 10
        let head = description() + cues((0..<20).map { ($0 * 1000, 50_000 + $0 * 12_000) })
        let file = segment(head, (0..<20).flatMap { cluster($0) })
        let (start, _) = timed(file, first: .milliseconds(9500), limits: limits)
        let data = Int64(segment().count)
        #expect(start.basis == .coarseTable && start.ranges == ByteRangeSet(0..<data + 50_000 + 10 * 12_000))
        // Without cues, the proportion of a minute.
        let plain = timed(
            segment(description(), (0..<20).flatMap { cluster($0) }), first: .milliseconds(9500), limits: limits
        ).0
        #expect(plain.basis == .proportion)
    }

    @Test func framesInDecodingOrderAndDelaysCount() {
        // Shown at 0, 400, 200, 100, 300 ms: with a goal of 250 ms the fourth block is needed, but not the fifth.
        let times = [0, 400, 200, 100, 300, 800, 600, 500, 700, 1200]
        let sounds = (0..<10).map { block(2, $0 * 100) }
        let blocks = zip(times, sounds).map { block(1, $0) + $1 }
        let file = segment(description(delay: 60), element(0x1F43_B675, element(0xE7, [0]), blocks.flatMap { $0 }))
        let head = file.count - blocks.reduce(0) { $0 + $1.count }
        // The sound of 300 ms is heard at 240 ms, and stands behind the frame of 100 ms.
        let (start, _) = timed(file + filler(500), first: .milliseconds(250))
        #expect(start.ranges == ByteRangeSet(0..<Int64(head + 4 * blocks[0].count)))
        // At 150 ms it is the frame of 100 ms itself.
        let earlier = timed(file, first: .milliseconds(150)).0
        #expect(earlier.ranges == ByteRangeSet(0..<Int64(head + 3 * blocks[0].count + block(1, 0).count)))
    }

    @Test func aTrackThatEndsOrIsSubtitlesIsNotWaitedFor() {
        let film = (0..<20).map {
            element(0x1F43_B675, element(0xE7, big($0 * 1000)), block(1, 0), block(3, 0, size: 50))
        }
        let file = segment(description(), film.flatMap { $0 })
        let head = segment(description()).count
        let last = film[0].count * 2 + film[0].count - block(3, 0, size: 50).count
        #expect(timed(file, first: .seconds(3)).0.ranges == ByteRangeSet(0..<Int64(head + last)))
    }

    @Test(arguments: [
        element(0x1F43_B675, element(0xE7, [0])), element(0x1654_AE6B, isUnknown: true), [0x00, 0x00],
        [0x1F, 0x43, 0xB6, 0x75, 0x08, 0xFF, 0xFF, 0xFF, 0xFF],
    ])
    func nothingUsableIsTheFirstMebibyte(_ rest: [UInt8]) {
        let (start, _) = timed(segment(rest) + filler(2 << 20), first: .seconds(2))
        #expect(start.basis == .firstBytes)
        #expect((1 << 20...1 << 20 + 200).contains(start.ranges.byteCount))
    }

    @Test func aFileThatIsCutAnywhereIsGivenAsFarAsItGoes() {
        let file = segment(description(), cluster(0), cluster(1))
        for count in stride(from: segment(description()).count, to: file.count, by: 97) {
            let (start, _) = timed(Array(file[..<count]), first: .seconds(5))
            #expect(start.ranges.bounds?.upperBound ?? 0 > count - 1100, "\(count): \(start)")
        }
    }
}
