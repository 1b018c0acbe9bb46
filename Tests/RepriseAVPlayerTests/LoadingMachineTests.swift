import Testing
@testable import RepriseAVPlayer

@Suite struct LoadingMachineTests {
    private let rest = LoadingExtent(offset: 0, length: .max, reachesEnd: true)

    @Test func theFirstRequestFindsInformationAndTheOthersWait() {
        var machine = LoadingMachine()
        let (first, actions) = machine.receive(
            extent: LoadingExtent(offset: 0, length: 2, reachesEnd: false), wantsInformation: true)
        #expect(actions == [.findInformation])
        let (second, none) = machine.receive(extent: rest, wantsInformation: false)
        #expect(none == [])
        #expect(
            machine.informed(completeLength: 100) == [.inform(first), .serve(first, 0..<2), .serve(second, 0..<100)])
    }

    @Test func informationComesBeforeBytesAndBeforeTheEnd() {
        var machine = LoadingMachine()
        let (id, _) = machine.receive(extent: nil, wantsInformation: true)
        #expect(machine.informed(completeLength: 100) == [.inform(id), .finish(id)])
        #expect(machine.outstanding == 0)
    }

    @Test func aFailureToFindFailsAllThatWaitAndTheNextTriesAgain() {
        var machine = LoadingMachine()
        let (first, _) = machine.receive(extent: rest, wantsInformation: true)
        let (second, _) = machine.receive(extent: rest, wantsInformation: false)
        #expect(machine.informationFailed() == [.fail(first), .fail(second)])
        #expect(machine.receive(extent: rest, wantsInformation: true).1 == [.findInformation])
    }

    @Test func theLengthStaysWhatItWas() {
        var machine = LoadingMachine()
        _ = machine.receive(extent: nil, wantsInformation: true)
        _ = machine.informed(completeLength: 100)
        _ = machine.informed(completeLength: 50)
        #expect(machine.completeLength == 100)
    }

    @Test func bytesAreGivenInOrderAndNotPastTheExtent() {
        var machine = LoadingMachine()
        _ = machine.informed(completeLength: 3 << 20)
        let (id, actions) = machine.receive(
            extent: LoadingExtent(offset: 10, length: 2 << 20, reachesEnd: false), wantsInformation: false)
        #expect(actions == [.serve(id, 10..<2_097_162)])
        #expect(machine.deliverable(id, at: 11, count: 5) == 0)
        #expect(machine.deliverable(id, at: 10, count: 2 << 20) == 1 << 20)
        #expect(machine.delivered(id, count: 1 << 20) == [])
        #expect(machine.deliverable(id, at: 10, count: 5) == 0)
        #expect(machine.position(of: id) == 1_048_586)
        #expect(machine.deliverable(id, at: 1_048_586, count: 4 << 20) == 1 << 20)
        #expect(machine.delivered(id, count: 1 << 20) == [.finish(id)])
        #expect(machine.deliverable(id, at: 2_097_162, count: 1) == 0)
    }

    @Test func nothingComesAfterACancellation() {
        var machine = LoadingMachine()
        _ = machine.informed(completeLength: 100)
        let (id, _) = machine.receive(extent: rest, wantsInformation: false)
        #expect(machine.cancel(id) == [.stop(id)])
        #expect(machine.cancel(id) == [])
        #expect(machine.deliverable(id, at: 0, count: 10) == 0)
        #expect(machine.delivered(id, count: 10) == [])
        #expect(machine.failed(id) == [])
    }

    @Test func requestsAlikeAreDifferentRequests() {
        var machine = LoadingMachine()
        _ = machine.informed(completeLength: 100)
        let (first, _) = machine.receive(extent: rest, wantsInformation: false)
        let (second, _) = machine.receive(extent: rest, wantsInformation: false)
        #expect(first != second)
        #expect(machine.cancel(first) == [.stop(first)])
        #expect(machine.deliverable(second, at: 0, count: 100) == 100)
    }

    @Test(
        "Extents saturate and are clipped",
        arguments: [
            (0, 2, false, 0..<2), (0, Int.max, true, 0..<100), (50, Int.max, false, 50..<100),
            (99, 65_536, false, 99..<100), (100, 1, false, 100..<100), (1000, 1, false, 100..<100),
            (1000, 5, true, 100..<100), (Int64.max, Int.max, false, 100..<100), (-5, 7, false, 0..<7),
            (0, -3, false, 0..<0),
        ] as [(Int64, Int, Bool, Range<Int64>)])
    func extents(_ offset: Int64, _ length: Int, _ reachesEnd: Bool, _ expected: Range<Int64>) {
        #expect(LoadingExtent(offset: offset, length: length, reachesEnd: reachesEnd).clipped(to: 100) == expected)
    }

    @Test func atAndPastTheEndARequestEndsAtOnce() {
        var machine = LoadingMachine()
        _ = machine.informed(completeLength: 100)
        let (id, actions) = machine.receive(
            extent: LoadingExtent(offset: 100, length: 10, reachesEnd: false), wantsInformation: true)
        #expect(actions == [.inform(id), .finish(id)])
    }

    @Test func aReleaseStopsEverything() {
        var machine = LoadingMachine()
        let (id, _) = machine.receive(extent: rest, wantsInformation: true)
        #expect(machine.release() == [.stop(id)])
        #expect(machine.informed(completeLength: 100) == [])
    }

    @Test func stoppingFailsWhatIsUnderWayAndLaterRequestsGoOn() {
        var machine = LoadingMachine()
        _ = machine.informed(completeLength: 100)
        let (id, _) = machine.receive(extent: rest, wantsInformation: false)
        #expect(machine.failAll() == [.fail(id)])
        let (next, actions) = machine.receive(extent: rest, wantsInformation: false)
        #expect(actions == [.serve(next, 0..<100)])
    }
}
