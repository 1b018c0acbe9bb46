import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct HostFieldTests {
    @Test(
        "A Host field has a name or an address, and a port at most (RFC 9110 §7.2)",
        arguments: [
            ("localhost", "localhost"), ("localhost:8090", "localhost"), ("localhost:", "localhost"),
            ("127.0.0.1:65535", "127.0.0.1"), ("127.0.0.1:0", "127.0.0.1"), ("[::1]", "::1"), ("[::1]:80", "::1"),
            ("[::1]:", "::1"), ("", ""), ("localhost:abc", nil), ("localhost:80x", nil), ("localhost:+80", nil),
            ("localhost:-1", nil), ("127.0.0.1:65536", nil), ("127.0.0.1:99999", nil), ("127.0.0.1:000080", nil),
            ("localhost:80:80", nil), ("[::1].evil", nil), ("[::1]evil:80", nil), ("[::1]:abc", nil), ("[::1", nil),
            ("[::1]]", nil), ("::1", nil),
        ] as [(String, String?)])
    func parts(text: String, name: String?) { #expect(HostField(text).map { String($0.name) } == name) }
}
