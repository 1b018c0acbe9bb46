import Testing

@testable import RepriseAVPlayer

/// When an item is exchanged for one that a receiver can load.
@Suite struct ExternalPlaybackTests {
    @Test func anItemIsSentAndBroughtBack() {
        var rules = ExternalPlayback()
        var actions: [ExternalPlayback.Action] = [
            rules.update(isExternal: false, current: .cached(isOpening: false)),
            rules.update(isExternal: true, current: .cached(isOpening: false)),
            rules.update(isExternal: true, current: .cast(isOpening: true)),
        ]
        #expect(actions == [.none, .send, .none])
        // The player plays nowhere while it changes to the new item.
        actions = [
            rules.update(isExternal: false, current: .cast(isOpening: true)),
            rules.update(isExternal: true, current: .cast(isOpening: false)),
            rules.update(isExternal: false, current: .cast(isOpening: false)),
            rules.update(isExternal: false, current: .cached(isOpening: false)),
        ]
        #expect(actions == [.none, .none, .bringBack, .none])
        #expect(rules.update(isExternal: true, current: .cached(isOpening: false)) == .send)
    }

    @Test func anotherItemEndsTheCastAndIsSentItself() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached(isOpening: false))
        let actions = [
            rules.update(isExternal: true, current: .cached(isOpening: false)),
            rules.update(isExternal: true, current: .cached(isOpening: false)),
            rules.update(isExternal: true, current: .other), rules.update(isExternal: true, current: .other),
        ]
        #expect(actions == [.end, .send, .end, .none])
    }

    /// Only then it is known where it starts.
    @Test func anItemIsSentOnceItIsOpen() {
        var rules = ExternalPlayback()
        let actions = [
            rules.update(isExternal: true, current: .cached(isOpening: true)),
            rules.update(isExternal: true, current: .cached(isOpening: false)),
            // The next one.
            rules.update(isExternal: true, current: .cached(isOpening: true)),
            rules.update(isExternal: true, current: .cached(isOpening: true)),
            rules.update(isExternal: true, current: .cached(isOpening: false)),
        ]
        #expect(actions == [.none, .send, .end, .none, .send])
    }

    @Test func whatNoCacheHasMadeIsLeftAlone() {
        var rules = ExternalPlayback()
        #expect(rules.update(isExternal: true, current: .other) == .none)
    }

    @Test func whatCannotBeSentIsLeftAlone() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached(isOpening: false))
        rules.failed()
        #expect(rules.update(isExternal: false, current: .cached(isOpening: false)) == .none)
    }
}
