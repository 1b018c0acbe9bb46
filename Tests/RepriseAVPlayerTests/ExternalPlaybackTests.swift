import Testing

@testable import RepriseAVPlayer

/// When an item is exchanged for one that a receiver can load.
@Suite struct ExternalPlaybackTests {
    @Test func anItemIsSentAndBroughtBack() {
        var rules = ExternalPlayback()
        var actions: [ExternalPlayback.Action] = [
            rules.update(isExternal: false, current: .cached),
            rules.update(isExternal: true, current: .cached),
            rules.update(isExternal: true, current: .cast(isOpening: true)),
        ]
        #expect(actions == [.none, .send, .none])
        // The player plays nowhere while it changes to the new item.
        actions = [
            rules.update(isExternal: false, current: .cast(isOpening: true)),
            rules.update(isExternal: true, current: .cast(isOpening: false)),
            rules.update(isExternal: false, current: .cast(isOpening: false)),
            rules.update(isExternal: false, current: .cached),
        ]
        #expect(actions == [.none, .none, .bringBack, .none])
        #expect(rules.update(isExternal: true, current: .cached) == .send)
    }

    @Test func anotherItemEndsTheCastAndIsSentItself() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached)
        let actions = [
            rules.update(isExternal: true, current: .cached), rules.update(isExternal: true, current: .cached),
            rules.update(isExternal: true, current: .other), rules.update(isExternal: true, current: .other),
        ]
        #expect(actions == [.end, .send, .end, .none])
    }

    @Test func whatNoCacheHasMadeIsLeftAlone() {
        var rules = ExternalPlayback()
        #expect(rules.update(isExternal: true, current: .other) == .none)
    }

    @Test func whatCannotBeSentIsLeftAlone() {
        var rules = ExternalPlayback()
        _ = rules.update(isExternal: true, current: .cached)
        rules.failed()
        #expect(rules.update(isExternal: false, current: .cached) == .none)
    }
}
