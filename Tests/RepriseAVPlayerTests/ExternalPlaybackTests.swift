import Testing

@testable import RepriseAVPlayer

/// When an item is exchanged for one that a receiver can load.
@Suite struct ExternalPlaybackTests {
    @Test func anItemIsSentAndBroughtBack() {
        var rules = ExternalPlayback()
        var actions: [ExternalPlayback.Action] = [
            rules.update(isExternal: false, current: .cached(.ready)),
            rules.update(isExternal: true, current: .cached(.ready)),
            rules.update(isExternal: true, current: .cast(.opening)),
        ]
        #expect(actions == [.none, .send, .none])
        // The player plays nowhere while it changes to the new item.
        actions = [
            rules.update(isExternal: false, current: .cast(.opening)),
            rules.update(isExternal: true, current: .cast(.ready)),
            rules.update(isExternal: false, current: .cast(.ready)),
            rules.update(isExternal: false, current: .cached(.ready)),
        ]
        #expect(actions == [.none, .none, .bringBack, .none])
        #expect(rules.update(isExternal: true, current: .cached(.ready)) == .send)
    }

    @Test func anotherItemEndsTheCastAndIsSentItself() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached(.ready))
        let actions = [
            rules.update(isExternal: true, current: .cached(.ready)),
            rules.update(isExternal: true, current: .cached(.ready)),
            rules.update(isExternal: true, current: .other), rules.update(isExternal: true, current: .other),
        ]
        #expect(actions == [.end, .send, .end, .none])
    }

    /// Only then it is known where it starts.
    @Test func anItemIsSentOnceItIsOpen() {
        var rules = ExternalPlayback()
        let actions = [
            rules.update(isExternal: true, current: .cached(.opening)),
            rules.update(isExternal: true, current: .cached(.ready)),
            // The next one.
            rules.update(isExternal: true, current: .cached(.opening)),
            rules.update(isExternal: true, current: .cached(.opening)),
            rules.update(isExternal: true, current: .cached(.ready)),
        ]
        #expect(actions == [.none, .send, .end, .none, .send])
    }

    /// As in a queue on some systems.
    @Test func anItemThatIsNeverOpenIsSentAndBroughtBackInTheEnd() {
        var rules = ExternalPlayback()
        let actions = [
            rules.update(isExternal: false, current: .cached(.opening), takesTooLong: true),
            rules.update(isExternal: true, current: .cached(.opening), takesTooLong: true),
            rules.update(isExternal: true, current: .cast(.opening)),
            rules.update(isExternal: true, current: .cast(.opening), takesTooLong: true),
            rules.update(isExternal: true, current: .other),
        ]
        #expect(actions == [.none, .send, .none, .giveUp(wasReady: false), .none])
        #expect(rules.patience(for: .cast(.ready), isExternal: true) == nil)
    }

    @Test func anItemIsNotBroughtBackBecauseThePlayerIsLateToPlayElsewhere() {
        var rules = ExternalPlayback()
        #expect(rules.patience(for: .cached(.opening), isExternal: true) == .seconds(10))
        #expect(rules.patience(for: .cached(.opening), isExternal: false) == nil)
        _ = rules.update(isExternal: true, current: .cached(.ready))
        #expect(rules.patience(for: .cast(.opening), isExternal: false) == .seconds(20))
        #expect(rules.update(isExternal: false, current: .cast(.ready)) == .none)
        #expect(rules.patience(for: .cast(.ready), isExternal: false) == .seconds(3))
        var late = rules
        #expect(late.update(isExternal: true, current: .cast(.ready)) == .none)
        #expect(late.update(isExternal: false, current: .cast(.ready)) == .bringBack, "it has played there")
        #expect(rules.update(isExternal: false, current: .cast(.ready), takesTooLong: true) == .bringBack)
    }

    /// A player may have found out before that it cannot send what only this device can load.
    @Test func anItemThatFailedIsSent() {
        var rules = ExternalPlayback()
        #expect(rules.update(isExternal: true, current: .cached(.failed)) == .send)
    }

    @Test(arguments: [false, true])
    func whatFailsAtTheReceiverIsGivenUp(_ isReadyBefore: Bool) {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached(.ready))
        if isReadyBefore { _ = rules.update(isExternal: true, current: .cast(.ready)) }
        let actions = [
            rules.update(isExternal: true, current: .cast(.failed)),
            rules.update(isExternal: false, current: .cast(.failed)),
            rules.update(isExternal: false, current: .other),
            rules.update(isExternal: true, current: .other),
        ]
        #expect(actions == [.none, .giveUp(wasReady: isReadyBefore), .none, .none])
    }

    @Test func whatNoCacheHasMadeIsLeftAlone() {
        var rules = ExternalPlayback()
        #expect(rules.update(isExternal: true, current: .other) == .none)
    }

    @Test func whatCannotBeSentIsLeftAlone() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached(.ready))
        rules.failed()
        #expect(rules.update(isExternal: false, current: .cached(.ready)) == .none)
    }
}
