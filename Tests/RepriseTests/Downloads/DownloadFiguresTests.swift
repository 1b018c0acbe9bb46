import Testing

@testable import Reprise

/// What is told of downloads while they run, at times that the test gives.
@Suite struct DownloadFiguresTests {
    private static let key = CacheKey("a")

    @Test func theRateIsThatOfAllThatArrived() {
        var figures = DownloadFigures()
        figures.begin(1, of: Self.key, at: .zero)
        for second in 1...4 { figures.note(50_000, nil, of: Self.key, in: 1, at: .seconds(second)) }
        #expect(figures.bytesPerSecond(of: Self.key, at: .seconds(4)) == 50_000)
    }

    @Test func whatWasStoredBeforeIsKnownOnceTheFetchHasBegun() {
        var figures = DownloadFigures()
        figures.begin(1, of: Self.key, at: .zero)
        #expect(figures.storedBefore(Self.key) == nil)
        figures.began(1, of: Self.key, stored: 700)
        figures.begin(2, of: Self.key, at: .seconds(1))
        figures.began(1, of: Self.key, stored: 800)
        #expect(figures.storedBefore(Self.key) == nil, "of the run before")
        figures.began(2, of: Self.key, stored: 900)
        #expect(figures.storedBefore(Self.key) == 900)
        let stream = StreamProgress(files: 2, storedFiles: 1, storedBytes: 1000)
        figures.note(300, stream, of: Self.key, in: 2, at: .seconds(2))
        #expect(figures.storedBefore(Self.key) == 700, "of a stream, what has not arrived")
        figures.remove(Self.key)
        #expect(figures.storedBefore(Self.key) == nil && figures.stream(Self.key) == nil)
    }

    @Test func aRunThatHasEndedArrivesNoMore() {
        var figures = DownloadFigures()
        figures.begin(1, of: Self.key, at: .zero)
        figures.note(10, nil, of: Self.key, in: 1, at: .seconds(1))
        let isNews = figures.end(1, of: Self.key, with: .done)
        #expect(isNews)
        figures.note(10, StreamProgress(files: 1), of: Self.key, in: 1, at: .seconds(2))
        #expect(figures.stream(Self.key) == nil)
        #expect(figures.bytesPerSecond(of: Self.key, at: .seconds(2)) == 0)
        figures.begin(2, of: Self.key, at: .seconds(3))
        figures.note(10, nil, of: Self.key, in: 1, at: .seconds(4))
        #expect(figures.bytesPerSecond(of: Self.key, at: .seconds(4)) == 0)
    }

    @Test func anAttemptThatFailsLikeTheOneBeforeIsNoNews() {
        var figures = DownloadFigures()
        func failure(_ code: RepriseError.Code) -> DownloadQueue.Ending { .failed(RepriseError(code, "Why.")) }
        let endings = [
            failure(.originTimedOut), failure(.originTimedOut), .canceled, failure(.storageFull), .done,
            failure(.storageFull),
        ]
        let news = endings.enumerated().map { figures.end(DownloadQueue.Run($0 + 1), of: Self.key, with: $1) }
        #expect(news == [true, false, false, true, true, true])
    }

    @Test func hoursAreNewsOnceForEachRun() {
        var figures = DownloadFigures()
        let error = RepriseError(.deferred, "At night.")
        var news: [Bool] = []
        for run in 1...2 {
            for _ in 0..<2 { news.append(figures.noteHours(of: Self.key, because: error)) }
            figures.begin(DownloadQueue.Run(run), of: Self.key, at: .zero)
        }
        #expect(news == [true, false, true, false])
    }
}
