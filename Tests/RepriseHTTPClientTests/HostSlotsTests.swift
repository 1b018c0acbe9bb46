import TestLimits
import Testing

@testable import RepriseHTTPClient

@Suite("The places for connections to one host", .limit(minutes: 1))
struct HostSlotsTests {
    private func word(_ lease: HostSlots<Int>.Lease) -> String {
        switch lease {
        case .reuse(let element): "reuse \(element)"
        case .open: "open"
        case .wait(let ticket): "wait \(ticket)"
        }
    }

    private func word(_ release: HostSlots<Int>.Release) -> String {
        switch release {
        case .parked: "parked"
        case .handOver(let ticket, let element): "hand over to \(ticket): \(element.map(String.init) ?? "a place")"
        case .close(let element): "close \(element)"
        }
    }

    @Test func theOneUsedLastIsUsedNext() {
        var slots = HostSlots<Int>(limit: 2, idleLimit: 2)
        #expect(word(slots.lease()) == "open")
        #expect(word(slots.lease()) == "open")
        #expect(word(slots.release(1)) == "parked")
        #expect(word(slots.release(2)) == "parked")
        #expect(word(slots.lease()) == "reuse 2")
        #expect(word(slots.lease()) == "reuse 1")
        #expect(word(slots.lease()) == "wait 0")
    }

    @Test func thoseOverTheLimitAreServedInOrder() {
        var slots = HostSlots<Int>(limit: 1, idleLimit: 1)
        _ = slots.lease()
        #expect(word(slots.lease()) == "wait 0")
        #expect(word(slots.lease()) == "wait 1")
        #expect(word(slots.lease()) == "wait 2")
        #expect(slots.withdraw(ticket: 1) == true)
        #expect(slots.withdraw(ticket: 1) == false)
        #expect(word(slots.release(7)) == "hand over to 0: 7")
        #expect(word(slots.release(nil)) == "hand over to 2: a place")
        #expect(word(slots.release(8)) == "parked")
        slots.removeIdle { $0 == 8 }
        #expect(slots.isUnused)
    }

    @Test func tooManyIdleOnesAreClosed() {
        var slots = HostSlots<Int>(limit: 3, idleLimit: 1)
        for _ in 0..<3 { _ = slots.lease() }
        #expect(word(slots.release(1)) == "parked")
        #expect(word(slots.release(2)) == "close 2")
        #expect(word(slots.release(nil)) == "parked")
        #expect(slots.lent == 0)
        #expect(slots.idle == [1])
    }
}
