import HTTPTypes
import TestLimits
import Testing

@testable import RepriseProxy

/// Heads that are handed on as they came.
@Suite(.limit(minutes: 1)) struct RelayTests {
    @Test("a head without Date gets the time at which it came (RFC 9110 §6.6.1)")
    func date() {
        var fields: HTTPFields = [:]
        fields.addOwn(receivedAt: 784_111_777)
        #expect(fields[.date] == "Sun, 06 Nov 1994 08:49:37 GMT")
        #expect(HTTPField.Name("Via").flatMap { fields[$0] } == "1.1 reprise")
        fields = [.date: "Mon, 07 Nov 1994 08:49:37 GMT"]
        fields.addOwn(receivedAt: 784_111_777)
        #expect(fields[.date] == "Mon, 07 Nov 1994 08:49:37 GMT")
    }
}
