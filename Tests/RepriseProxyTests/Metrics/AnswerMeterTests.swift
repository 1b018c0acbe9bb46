import NIOCore
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What is read off an answer while it is sent.
@Suite(.limit(minutes: 1)) struct AnswerMeterTests {
    private static func begin(_ text: String, isInBody: Bool = false) -> (body: Int, AnswerMeter.Reading) {
        let meter = AnswerMeter(clock: .system, isInBody: isInBody)
        return (meter.begin(ByteBuffer(string: text)), meter.reading)
    }

    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nA: b\r\n\r\n", 200, 0), ("HTTP/1.1 206 Partial Content\r\n\r\nabc", 206, 3),
            ("HTTP/1.1 304 Not Modified\r\n\r\n", 304, 0), ("HTTP/1.1 200 OK\r\n\r\n\r\n\r\n", 200, 4),
            // Nothing that this proxy writes.
            ("HTTP/1.1 2", nil, 0), ("abc", nil, 0), ("HTTP/1.1 a00 \r\n\r\n", nil, 0), ("HTTP/1.1 200 OK\r\n", 200, 0),
        ] as [(String, Int?, Int)]) func theHeadEndsWithItsEmptyLine(text: String, status: Int?, body: Int)
    {
        let (count, reading) = Self.begin(text)
        #expect(count == body)
        #expect(reading.status == status)
        #expect(reading.begun != nil)
        #expect(reading.bodyBytes == 0, "they count once they were passed on")
    }

    @Test func whatFollowsTheFirstHeadIsBody() {
        let meter = AnswerMeter(clock: .system)
        #expect(meter.begin(ByteBuffer()) == 0)
        #expect(meter.reading.begun == nil)
        #expect(meter.begin(ByteBuffer(string: "HTTP/1.1 206 Partial Content\r\n\r\n")) == 0)
        #expect(meter.begin(ByteBuffer(string: "--boundary\r\n\r\n")) == 14)
        meter.passed(14)
        meter.passed(100)
        #expect(meter.reading.bodyBytes == 114)
        #expect(meter.reading.status == 206)
        let (count, reading) = Self.begin("HTTP/1.1 500 \r\n\r\n", isInBody: true)
        #expect(count == 17)
        #expect(reading.status == nil)
    }

    @Test func theFirstSourceStays() {
        let meter = AnswerMeter(clock: .system)
        var served = SourceBytes()
        meter.note(served, first: nil)
        (served.origin, served.store) = (5, 2)
        meter.note(served, first: .origin)
        meter.note(served, first: .store)
        #expect(meter.reading.source == .origin)
        #expect(meter.reading.served.origin == 10)
        #expect(meter.reading.served.total == 14)
    }

    @Test func timesAreThoseOfTheClock() {
        let clock = ShiftableClock()
        let meter = AnswerMeter(clock: clock.cacheClock)
        let start = clock.cacheClock.elapsed()
        clock.shift(by: .seconds(3))
        _ = meter.begin(ByteBuffer(string: "HTTP/1.1 200 OK\r\n\r\n"))
        clock.shift(by: .seconds(5))
        _ = meter.begin(ByteBuffer(string: "more"))
        #expect(meter.reading.begun.map { $0 - start } == meter.reading.begun.map { _ in .seconds(3) })
        #expect(meter.reading.begun != nil)
    }
}
