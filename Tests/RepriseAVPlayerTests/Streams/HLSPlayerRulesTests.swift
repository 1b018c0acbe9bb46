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
}
