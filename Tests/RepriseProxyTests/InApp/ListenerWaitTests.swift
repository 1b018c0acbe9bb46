import Foundation
import TestLimits
import Testing

@testable import RepriseProxy

/// What ends the wait of a listener's thread, with pipes in place of sockets.
@Suite(.limit(minutes: 1)) struct ListenerWaitTests {
    /// A pipe.
    private final class Ends {
        let reader: CInt
        private let writer: CInt
        private var isOpen = true

        init() throws {
            var ends: [CInt] = [-1, -1]
            let result = pipe(&ends)
            try #require(result == 0)
            (reader, writer) = (ends[0], ends[1])
        }

        deinit {
            end()
            close(reader)
        }

        /// Ends it, as a connection that is refused.
        func end() {
            if isOpen { close(writer) }
            isOpen = false
        }

        func send() {
            var byte: UInt8 = 0
            _ = write(writer, &byte, 1)
        }
    }

    private let wake: Ends
    private let listeners: [Ends]
    private let probe: Ends

    init() throws {
        wake = try Ends()
        listeners = [try Ends(), try Ends()]
        probe = try Ends()
    }

    /// Waits; the clock shows that it took `duration`.
    private func end(
        within milliseconds: Int = 30_000, lasting duration: Duration = .zero
    ) -> ListenerWait.Outcome {
        var readings = [duration, .zero]
        let wait = ListenerWait(wake: wake.reader, listeners: listeners.map(\.reader), probe: probe.reader)
        return wait.outcome(within: milliseconds) { readings.popLast() ?? duration }
    }

    @Test(arguments: [0, 1]) func aClientIsFoundAtEitherDescriptor(_ index: Int) {
        listeners[index].send()
        let outcome = end()
        #expect(outcome == .client)
    }

    @Test func aWishComesBeforeClients() {
        wake.send()
        listeners[0].send()
        let outcome = end()
        #expect(outcome == .woken)
    }

    @Test func aRefusedConnectionEndsItAtOnce() {
        probe.end()
        let outcome = end()
        #expect(outcome == .probeEnded)
    }

    @Test func clientsOfAListenerThatRefusesAreAcceptedFirst() {
        probe.end()
        listeners[1].send()
        let outcome = end()
        #expect(outcome == .client)
    }

    @Test func withoutAnyItEndsInTime() {
        let outcome = end(within: 1, lasting: .milliseconds(400))
        #expect(outcome == .timedOut)
    }

    @Test func aClockThatHasJumpedShowsASuspension() {
        let outcome = end(within: 1, lasting: .seconds(600))
        #expect(outcome == .resumed)
    }

    @Test func aClientIsAnsweredAtOnceAfterASuspension() {
        listeners[0].send()
        let outcome = end(lasting: .seconds(600))
        #expect(outcome == .client)
    }
}
