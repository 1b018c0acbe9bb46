import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct AnswerTallyTests {
    private static func record(
        _ method: AnswerTally.Method, _ status: Int?, source: PieceSource? = nil, after delay: Duration? = nil
    ) -> AnswerRecord {
        let record = AnswerRecord(start: .zero, method: method)
        (record.status, record.source, record.firstByte) = (status, source, delay)
        return record
    }

    @Test func answersAreCountedByMethodAndClass() {
        var tally = AnswerTally()
        for status in [200, 206, 204, 304, 404, 416, 500, 504] { tally.note(Self.record(.get, status)) }
        tally.note(Self.record(.head, 200))
        tally.note(Self.record(.other, nil))
        let get = AnswerTally.Code.allCases.map { tally.count(.get, $0) }
        #expect(get == [3, 1, 2, 2, 0])
        #expect(tally.count(.head, .successful) == 1)
        #expect(tally.count(.other, .none) == 1)
        var sum = tally
        sum += tally
        #expect(sum.count(.get, .successful) == 6)
        let all = AnswerTally.Method.allCases.flatMap { method in
            AnswerTally.Code.allCases.map { sum.count(method, $0) }
        }
        #expect(all.reduce(0, +) == 20)
    }

    @Test func onlyMediaHaveATimeToTheFirstByte() {
        var tally = AnswerTally()
        tally.note(Self.record(.get, 200, source: .store, after: .milliseconds(2)))
        tally.note(Self.record(.get, 404, after: .milliseconds(2)))
        tally.note(Self.record(.get, nil, source: .origin))
        for (source, count) in [(PieceSource.store, 1), (.joined, 0), (.origin, 0)] as [(PieceSource, Int64)] {
            #expect(tally.firstByte(from: source).count == count)
        }
    }
}
