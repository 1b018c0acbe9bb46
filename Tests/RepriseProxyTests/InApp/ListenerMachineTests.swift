import Testing

@testable import RepriseProxy

@Suite struct ListenerMachineTests {
    private typealias Action = ListenerMachine.Action
    /// The wait ends by itself, because a defunct listener wakes nothing.
    private static let listen = Action.wait(milliseconds: ListenerMachine.longestWait, accepting: true)

    /// A machine after these events.
    private static func after(_ events: ListenerMachine.Event...) -> ListenerMachine {
        var machine = ListenerMachine()
        for event in events { _ = machine.handle(event) }
        return machine
    }

    @Test func clientsAreAcceptedOneAfterTheOther() {
        var machine = ListenerMachine()
        #expect(ListenerMachine.start == Self.listen)
        #expect(machine.isOpen == true)
        #expect(machine.handle(.accepted) == Self.listen)
        #expect(machine.handle(.noneAccepted) == Self.listen)
        #expect(machine.handle(.timedOut) == Self.listen)
    }

    @Test func afterASuspensionTheListenerIsExaminedWhateverItDid() {
        for var machine in [Self.after(), Self.after(.checkWanted, .probeSent), Self.after(.crowded)] {
            #expect(machine.handle(.resumed) == .examine)
            #expect(machine.isOpen == nil)
            #expect(machine.handle(.probeSent) == .wait(milliseconds: ListenerMachine.probeTime, accepting: true))
        }
    }

    @Test func afterASuspensionAClosedOneIsOpenedAtOnce() {
        var machine = Self.after(.broken, .openingFailed)
        #expect(machine.handle(.resumed) == .open)
    }

    @Test func aCheckEndsWhenTheListenerHasAcceptedTheProbe() {
        var machine = ListenerMachine()
        #expect(machine.handle(.checkWanted) == .examine)
        #expect(machine.isOpen == nil)
        #expect(machine.handle(.probeSent) == .wait(milliseconds: ListenerMachine.probeTime, accepting: true))
        #expect(machine.handle(.noneAccepted) == .wait(milliseconds: ListenerMachine.probeTime, accepting: true))
        #expect(machine.isOpen == nil)
        #expect(machine.handle(.accepted) == Self.listen)
        #expect(machine.isOpen == true)
    }

    @Test func aCheckEndsAtOnceWhereNoProbeMayBeSent() {
        var machine = Self.after(.checkWanted)
        #expect(machine.handle(.foundListening) == Self.listen)
        #expect(machine.isOpen == true)
    }

    @Test(arguments: [ListenerMachine.Event.broken, .timedOut])
    func aListenerWhoseProbeFailsIsOpenedAgain(_ failure: ListenerMachine.Event) {
        var machine = Self.after(.checkWanted, .probeSent)
        #expect(machine.handle(failure) == .open)
        #expect(machine.isOpen == nil)
        #expect(machine.handle(.opened) == Self.listen)
        #expect(machine.isOpen == true)
    }

    @Test func soIsOneThatIsNoLongerTheListener() {
        var machine = Self.after(.checkWanted)
        #expect(machine.handle(.broken) == .open)
    }

    @Test func soIsOneThatFailsWithoutACheck() {
        var machine = ListenerMachine()
        #expect(machine.handle(.broken) == .open)
    }

    @Test func aPortThatIsTakenIsTriedAgainMoreAndMoreSeldom() {
        var machine = Self.after(.broken)
        var pauses: [Int] = []
        for _ in 0..<9 {
            guard case .wait(let pause, accepting: false) = machine.handle(.openingFailed) else {
                Issue.record("no pause")
                return
            }
            pauses.append(pause)
            #expect(machine.isOpen == false)
            #expect(machine.handle(.timedOut) == .open)
        }
        #expect(pauses == [20, 40, 80, 160, 320, 640, 1000, 1000, 1000])
    }

    @Test func aCheckTriesItAtOnce() {
        var machine = Self.after(.broken, .openingFailed)
        #expect(machine.handle(.checkWanted) == .open)
    }

    @Test func withoutADescriptorClientsWaitInsteadOfTheThreadSpinning() {
        var machine = ListenerMachine()
        let pause = Action.wait(milliseconds: ListenerMachine.pause, accepting: false)
        #expect(machine.handle(.crowded) == pause)
        #expect(machine.isOpen == true)
        #expect(machine.handle(.checkWanted) == pause)
        #expect(machine.handle(.timedOut) == Self.listen)
    }

    @Test func itEndsInEachState() {
        for var machine in [
            Self.after(), Self.after(.checkWanted), Self.after(.checkWanted, .probeSent), Self.after(.broken),
            Self.after(.broken, .openingFailed), Self.after(.crowded),
        ] {
            #expect(machine.handle(.endWanted) == .end)
            #expect(machine.handle(.checkWanted) == .end)
            #expect(machine.isOpen == false)
        }
    }
}
