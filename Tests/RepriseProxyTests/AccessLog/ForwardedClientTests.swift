import TestLimits
import Testing

@testable import RepriseProxy

/// Whose address counts as the client's behind proxies.
@Suite(.limit(minutes: 1)) struct ForwardedClientTests {
    private let client = ForwardedClient { $0.hasPrefix("10.") || $0 == "2001:db8::1" }

    @Test(
        "the rightmost address counts that is no trusted proxy's",
        arguments: [
            // Not through a proxy, whatever it says.
            ("192.0.2.7", "203.0.113.9", "192.0.2.7"), ("192.0.2.7", nil, "192.0.2.7"), ("10.0.0.1", nil, "10.0.0.1"),
            ("10.0.0.1", "192.0.2.7", "192.0.2.7"), ("2001:db8::1", "192.0.2.7", "192.0.2.7"),
            // What the client wrote itself.
            ("10.0.0.1", "10.0.0.9, 203.0.113.9, 192.0.2.7", "192.0.2.7"),
            ("10.0.0.1", "203.0.113.9,192.0.2.7 , 10.0.0.2,10.0.0.3", "192.0.2.7"),
            // Only proxies: the one that is farthest away.
            ("10.0.0.1", "10.0.0.2, 10.0.0.3", "10.0.0.2"),
            // With ports, and IPv6.
            ("10.0.0.1", "192.0.2.7:4711", "192.0.2.7"), ("10.0.0.1", "[2001:db8::7]:4711", "2001:db8::7"),
            ("10.0.0.1", "2001:db8::7, 2001:db8::1", "2001:db8::7"), ("10.0.0.1", "[2001:db8::7]", "2001:db8::7"),
            // What is no address ends the way that can be believed.
            ("10.0.0.1", "192.0.2.7, unknown", "10.0.0.1"), ("10.0.0.1", "192.0.2.7, , 10.0.0.2", "10.0.0.2"),
            ("10.0.0.1", "192.0.2.7, a.example:80", "10.0.0.1"), ("10.0.0.1", "", "10.0.0.1"),
            ("10.0.0.1", "[192.0.2.7]", "10.0.0.1"), ("10.0.0.1", "1.2.3", "10.0.0.1"),
        ] as [(String, String?, String)])
    func addresses(peer: String, field: String?, expected: String) {
        #expect(client.address(behind: peer, saying: field) == expected)
    }
}
