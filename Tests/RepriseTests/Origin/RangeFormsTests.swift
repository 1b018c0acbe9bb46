import HTTPSemantics
import HTTPTypes
import Testing

@testable import Reprise

/// In which forms missing bytes are requested, one after the other.
@Suite struct RangeFormsTests {
    private func all(_ forms: RangeForms) -> [RangeSpec?] {
        var forms = forms
        var all = [forms.current]
        while forms.advance() { all.append(forms.current) }
        return all
    }

    @Test("a hole, then all from its beginning, then the whole (RFC 9110 §14.2)")
    func hole() {
        let forms = RangeForms(100..<200, within: .open, completeLength: 1000)
        #expect(all(forms) == [.bounded(100..<200), .from(100), nil])
        let toEnd = RangeForms(100..<1000, within: .open, completeLength: 1000)
        #expect(all(toEnd) == [.from(100), nil])
        #expect(all(RangeForms(100..<Int64.max, within: .open, completeLength: nil)) == [.from(100), nil])
    }

    @Test("a player's own end is not passed, and its last range keeps its end")
    func playersEnd() {
        let forms = RangeForms(100..<200, within: .player(300), completeLength: 1000)
        #expect(all(forms) == [.bounded(100..<200), .bounded(100..<300), nil])
        let last = RangeForms(900..<1000, within: .player(1000), completeLength: 1000)
        #expect(all(last) == [.bounded(900..<1000), nil])
    }

    @Test("a host that is known to fail at ends is not asked with one, unless a player is")
    func knownHost() {
        let forms = RangeForms(100..<200, within: .open, completeLength: 1000, needsOpenEnd: true)
        #expect(all(forms) == [.from(100), nil])
        let bounded = RangeForms(100..<200, within: .player(200), completeLength: 1000, needsOpenEnd: true)
        #expect(all(bounded) == [.bounded(100..<200), nil])
    }

    @Test("a range that a player chose has no other form; one that the cache chose has")
    func chosen() {
        #expect(all(RangeForms(.bounded(100..<200), mayWiden: false)) == [.bounded(100..<200)])
        #expect(all(RangeForms(.from(0), mayWiden: false)) == [.from(0)])
        #expect(all(RangeForms(.bounded(0..<200), mayWiden: true)) == [.bounded(0..<200), .from(0), nil])
        #expect(all(RangeForms(.from(100), mayWiden: true)) == [.from(100), nil])
        #expect(all(RangeForms(nil, mayWiden: true)) == [nil])
    }

    @Test(
        "another part than requested, and errors about the request, are faults of its form",
        arguments: [
            (ResponseAction.reject(.contentLength), 206, true), (.reject(.invalidContentRange), 206, true),
            (.reject(.wrongStart), 206, true), (.reject(.multipart), 206, true), (.retryWithoutRange, 416, true),
            (.passThrough(.contradictoryRange), 200, true), (.refusal, 400, true), (.refusal, 501, true),
            (.refusal, 404, false), (.refusal, 403, false), (.refusal, 503, false),
            (.unsatisfiable(completeLength: 10), 416, false), (.passThrough(.noStore), 200, false),
            (.reject(.invalidStatus), 99, false),
        ])
    func faults(action: ResponseAction, status: Int, expected: Bool) {
        #expect(action.isFaultOfForm(status: status) == expected)
    }
}
