import Testing

@testable import RepriseAVPlayer

/// Which time counts while the player waits for a byte.
@Suite struct PatienceTests {
    /// A device: its clocks, and the timers that it fires.
    private struct Device {
        var now = Patience.Reading(continuous: .zero, awake: .zero)

        mutating func run(_ time: Duration) {
            now.continuous += time
            now.awake += time
        }

        mutating func sleep(_ time: Duration) { now.continuous += time }

        /// Uses up `patience`; returns the time for which the process ran.
        mutating func exhaust(_ patience: inout Patience) -> Duration {
            let start = now.awake
            while true {
                let step = patience.step(at: now)
                guard step > .zero else { return now.awake - start }
                run(step)
            }
        }
    }

    @Test func aWaitIsOverAfterItsTime() {
        var device = Device()
        var patience = Patience(.seconds(60), at: device.now)
        #expect(device.exhaust(&patience) == .seconds(60))
    }

    @Test func aWaitShorterThanAStepIsAsExact() {
        var device = Device()
        var patience = Patience(.milliseconds(300), at: device.now)
        #expect(patience.step(at: device.now) == .milliseconds(300))
        #expect(device.exhaust(&patience) == .milliseconds(300))
    }

    @Test func noTimeIsNoTime() {
        var device = Device()
        for time in [Duration.zero, .seconds(-1)] {
            var patience = Patience(time, at: device.now)
            #expect(device.exhaust(&patience) == .zero)
        }
    }

    @Test func whatComesBeginsTheTimeAgain() {
        var device = Device()
        var patience = Patience(.seconds(60), at: device.now)
        let step = patience.step(at: device.now)
        device.run(step)
        patience.progressed(at: device.now)
        #expect(device.exhaust(&patience) == .seconds(60))
    }

    @Test func aDeviceThatSleptGivesTheWholeTimeAgain() {
        var device = Device()
        var patience = Patience(.seconds(60), at: device.now)
        for _ in 0..<11 { device.run(patience.step(at: device.now)) }
        device.sleep(.seconds(36_000))
        #expect(device.exhaust(&patience) == .seconds(60))
    }

    @Test func aProcessThatWasSuspendedGetsTheWholeTimeAgain() {
        var device = Device()
        var patience = Patience(.seconds(60), at: device.now)
        for _ in 0..<11 { device.run(patience.step(at: device.now)) }
        // The device was awake: both clocks went on, and the timer fires late.
        device.run(patience.step(at: device.now) + .seconds(36_000))
        #expect(device.exhaust(&patience) == .seconds(60))
    }

    @Test func aTimerThatIsSlightlyLateGivesNoTime() {
        var device = Device()
        var patience = Patience(.seconds(60), at: device.now)
        var ran = Duration.zero
        while true {
            let step = patience.step(at: device.now)
            guard step > .zero else { break }
            device.run(step + .seconds(1))
            ran += step + .seconds(1)
        }
        #expect(ran >= .seconds(60) && ran < .seconds(66))
    }
}
