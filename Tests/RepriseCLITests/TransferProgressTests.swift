import Reprise
import Testing

@testable import RepriseCLI

/// Rate, remaining time and stalls of a download, at times that the test gives.
@Suite struct TransferProgressTests {
    /// Ten million bytes at a million a second, of which `stored` are there before.
    private func moving(stored: Int64 = 0, for seconds: Int) -> TransferProgress {
        var progress = TransferProgress(at: .zero)
        progress.begin(total: 10_000_000, stored: stored, at: .zero)
        if stored > 0 { progress.note(bytes: stored, fromStore: stored, at: .zero) }
        for tick in 1...seconds * 10 {
            let time = Duration.milliseconds(100 * tick)
            progress.note(bytes: stored + Int64(tick) * 100_000, fromStore: stored, at: time)
        }
        return progress
    }

    @Test func beforeTheAnswerItConnects() {
        let progress = TransferProgress(at: .seconds(1))
        #expect(progress.phase(at: .seconds(6)) == .connecting(.seconds(5)))
    }

    @Test(arguments: [0, 4_000_000] as [Int64]) func storedBytesAreNoSpeed(stored: Int64) {
        let progress = moving(stored: stored, for: 2)
        #expect(
            progress.phase(at: .seconds(2)) == .moving(rate: 1_000_000, remaining: .seconds(8 - stored / 1_000_000)))
    }

    @Test func storedBytesThatAreStillToBeReadNeedNoTime() {
        var progress = TransferProgress(at: .zero)
        progress.begin(total: 10_000_000, stored: 5_000_000, at: .zero)
        for tick in 1...10 {
            progress.note(bytes: Int64(tick) * 100_000, fromStore: 0, at: .milliseconds(100 * tick))
        }
        #expect(progress.phase(at: .seconds(1)) == .moving(rate: 1_000_000, remaining: .seconds(4)))
    }

    @Test func whatCameOfAVersionThatIsGoneIsNoSpeed() {
        var progress = moving(for: 2)
        progress.note(bytes: 0, fromStore: 0, at: .seconds(3))
        #expect(progress.phase(at: .seconds(3)) == .moving(rate: 0, remaining: nil))
        progress.note(bytes: 500_000, fromStore: 0, at: .seconds(4))
        guard case .moving(let rate, _) = progress.phase(at: .seconds(4)) else {
            return #expect(Bool(false), "\(progress.phase(at: .seconds(4)))")
        }
        #expect(rate == 500_000)
    }

    @Test func theRateIsThatOfTheLastSeconds() throws {
        var progress = moving(for: 5)
        for tick in 51...110 {
            progress.note(bytes: 5_000_000 + Int64(tick - 50) * 10_000, fromStore: 0, at: .milliseconds(100 * tick))
        }
        guard case .moving(let rate, let remaining) = progress.phase(at: .seconds(11)) else {
            return #expect(Bool(false), "\(progress.phase(at: .seconds(11)))")
        }
        #expect(abs(rate - 100_000) < 1)
        #expect(abs(try #require(remaining) / .seconds(1) - 44) < 0.1)
    }

    @Test func whatDoesNotArriveIsStalledAndGoesOn() {
        var progress = moving(for: 2)
        #expect(progress.phase(at: .seconds(4)) != .stalled(.seconds(2)))
        #expect(progress.phase(at: .seconds(6)) == .stalled(.seconds(4)))
        progress.note(bytes: 2_100_000, fromStore: 0, at: .seconds(7))
        guard case .moving(let rate, _) = progress.phase(at: .seconds(7)) else {
            return #expect(Bool(false), "\(progress.phase(at: .seconds(7)))")
        }
        #expect(abs(rate - 20_000) < 1_000)
    }

    @Test func anUnknownLengthHasNoRemainingTime() {
        var progress = TransferProgress(at: .zero)
        progress.begin(total: nil, stored: 0, at: .zero)
        progress.note(bytes: 1000, fromStore: 0, at: .seconds(1))
        #expect(progress.phase(at: .seconds(1)) == .moving(rate: 1000, remaining: nil))
    }

    private func picture(_ progress: TransferProgress, at time: Duration) -> ProgressPicture {
        ProgressPicture(name: "film.mp4", url: "http://example.com:81/film.mp4", progress: progress, time: time)
    }

    @Test func linesSayWhatHappens() {
        let connecting = picture(TransferProgress(at: .zero), at: .seconds(4))
        #expect(connecting.line == "film.mp4  connecting to example.com:81, 4 s")
        #expect(connecting.bar(width: 30) == "film.mp4  connecting to examp")
        let progress = moving(for: 2)
        #expect(
            picture(progress, at: .seconds(2)).line == "film.mp4  2.00 MB of 10.0 MB  1.00 MB/s  0 B from the store")
        #expect(
            picture(progress, at: .seconds(7)).line
                == "film.mp4  2.00 MB of 10.0 MB  stalled for 5 s  0 B from the store")
    }

    @Test func linesSayThatAProgramIsWaitedFor() {
        var asking = picture(TransferProgress(at: .zero), at: .seconds(4))
        asking.program = "/bin/ask"
        #expect(asking.line == "film.mp4  waiting for /bin/ask, 4 s")
        var later = picture(moving(for: 2), at: .seconds(7))
        later.program = "/bin/ask"
        #expect(later.line.contains("waiting for /bin/ask, 5 s") && !later.line.contains("stalled"))
    }

    @Test func linesSayThatAPlayerGoesFirst() {
        var waiting = picture(TransferProgress(at: .zero), at: .seconds(4))
        waiting.yields = true
        #expect(waiting.line == "film.mp4  waiting while a player plays")
        var later = picture(moving(for: 2), at: .seconds(7))
        later.yields = true
        #expect(
            later.line == "film.mp4  2.00 MB of 10.0 MB  waiting while a player plays  0 B from the store")
        #expect(later.bar(width: 80).hasSuffix("  waiting while a player plays"))
    }

    @Test func aBarFillsTheTerminal() {
        let progress = moving(for: 2)
        let bar = picture(progress, at: .seconds(2)).bar(width: 80)
        #expect(bar.count == 79)
        #expect(bar.hasSuffix("]  20 %  2.00 MB of 10.0 MB  1.00 MB/s  ETA 0:08"))
        #expect(picture(progress, at: .seconds(7)).bar(width: 80).hasSuffix("  stalled for 5 s"))
        #expect(picture(progress, at: .seconds(2)).bar(width: 40) == "20 %  2.00 MB of 10.0 MB  1.00 MB/s  ET")
    }

    @Test func aStreamShowsItsFiles() throws {
        var progress = TransferProgress(at: .zero)
        progress.begin(total: nil, stored: 0, at: .zero)
        for second in 1...2 {
            progress.note(bytes: Int64(second) * 1_000_000, fromStore: 0, at: .seconds(second))
        }
        var stream = picture(progress, at: .seconds(2))
        var report = TransferReport(key: CacheKey("stream"))
        #expect(StreamCount(report) == nil)
        (report.storedFiles, report.files) = (10, 50)
        stream.files = StreamCount(report)
        #expect(stream.line == "film.mp4  10 of 50 files  2.00 MB  1.00 MB/s  0 B from the store")
        let bar = stream.bar(width: 80)
        #expect(bar.count == 79)
        #expect(bar.hasSuffix("]  10 of 50 files  2.00 MB  1.00 MB/s  ETA 0:08"), "four times as much is missing")
        #expect(stream.report.storedFiles == 10 && stream.report.files == 50)
    }

    @Test func reportsCarryTheRate() {
        let report = picture(moving(for: 2), at: .seconds(2)).report
        #expect(report.state == "progress" && report.bytes == 2_000_000 && report.bytesPerSecond == 1_000_000)
        #expect(picture(moving(for: 2), at: .seconds(7)).report.bytesPerSecond == 0)
    }
}
