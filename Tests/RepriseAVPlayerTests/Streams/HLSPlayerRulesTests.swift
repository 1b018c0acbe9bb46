import Testing

@Suite struct HLSPlayerRulesTests {
    @Test func threeRequestsWithoutAHeadInARowEndTheItem() {
        var rules = HLSPlayerRules()
        #expect(rules.react(to: .noHead) == .again(after: .zero))
        #expect(rules.react(to: .noHead) == .again(after: .zero))
        #expect(rules.react(to: .complete(status: 206, retryAfter: nil)) == .use)
        #expect(rules.react(to: .noHead) == .again(after: .zero))
        #expect(rules.react(to: .noHead) == .again(after: .zero))
        #expect(rules.react(to: .noHead) == .fail(code: -12889))
    }

    @Test func whatIsNotThereEndsItAtOnceAndWhatIsLateDoesNot() {
        var rules = HLSPlayerRules()
        #expect(rules.react(to: .complete(status: 404, retryAfter: nil)) == .fail(code: -12938))
        for _ in 0..<20 {
            #expect(rules.react(to: .complete(status: 503, retryAfter: 2)) == .again(after: .seconds(2)))
        }
        #expect(rules.react(to: .complete(status: 503, retryAfter: nil)) == .fail(code: -12939))
    }

    @Test func connectionsThatBreakAreTriedAgainTwice() {
        var rules = HLSPlayerRules()
        #expect(rules.react(to: .broken) == .again(after: .seconds(1)))
        #expect(rules.react(to: .broken) == .again(after: .seconds(1)))
        #expect(rules.react(to: .broken) == .fail(code: -1004))
    }

    private static func list(_ count: Int, blocking: Bool = false) -> LiveList {
        LiveList(
            "#EXTM3U\n#EXT-X-TARGETDURATION:4\n" + (blocking ? "#EXT-X-SERVER-CONTROL:CAN-BLOCK-RELOAD=YES\n" : "")
                + (0..<count).map { "#EXTINF:4,\n\($0).ts\n" }.joined())
    }

    @Test func aListThatHasChangedIsGoodForItsTargetDurationAndAnotherForHalfOfIt() {
        var rules = HLSReloadRules()
        #expect(rules.take(Self.list(3), asked: nil, at: .seconds(10)) == .reload(at: .seconds(14)))
        #expect(rules.take(Self.list(3), asked: nil, at: .seconds(14)) == .reload(at: .seconds(16)))
        #expect(rules.take(Self.list(3), asked: nil, at: .seconds(16)) == .reload(at: .seconds(18)))
        #expect(rules.take(Self.list(3), asked: nil, at: .seconds(17)) == .fail(code: -12888))
        #expect(rules.take(Self.list(4), asked: nil, at: .seconds(18)) == .reload(at: .seconds(22)))
        rules.resume(at: .seconds(100))
        #expect(rules.take(Self.list(4), asked: nil, at: .seconds(102)) == .reload(at: .seconds(104)))
    }

    @Test func aBlockingRequestMustBringWhatItAskedFor() {
        var rules = HLSReloadRules()
        let third = LiveList.Part(segment: 3, part: 0)
        let old = Self.list(3, blocking: true), new = Self.list(4, blocking: true)
        #expect(rules.take(old, asked: third, at: .zero) == .fail(code: -15410))
        #expect(rules.take(new, asked: third, at: .seconds(1)) == .reload(at: .seconds(1)))
    }
}
