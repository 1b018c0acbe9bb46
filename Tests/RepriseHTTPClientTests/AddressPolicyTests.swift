import NIOCore
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// Which private addresses a configuration allows, and how it writes them.
@Suite(.limit(minutes: 1)) struct AddressPolicyTests {
    private static func permits(
        _ address: String, host: String = "nas.lan", _ rule: AddressPolicy.HostRule = .none, in ranges: [String] = []
    ) throws -> Bool {
        let policy = AddressPolicy(for: host, rule: rule, ranges: try ranges.map { try #require(AddressRange($0)) })
        return policy.permits(try SocketAddress(ipAddress: address, port: 80))
    }

    @Test(
        "A range names its addresses and no others",
        arguments: [
            ("192.168.1.0/24", "192.168.1.1", true), ("192.168.1.0/24", "192.168.1.255", true),
            ("192.168.1.0/24", "192.168.2.1", false), ("192.168.1.0/24", "192.168.0.255", false),
            ("192.168.1.128/25", "192.168.1.128", true), ("192.168.1.128/25", "192.168.1.127", false),
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", true), ("172.16.0.0/12", "172.31.0.1", true),
            ("172.16.0.0/13", "172.31.0.1", false), ("192.168.1.7", "192.168.1.7", true),
            ("192.168.1.7", "192.168.1.6", false), ("192.168.1.7/32", "192.168.1.7", true),
            ("fd00:1::/64", "fd00:1::2", true), ("fd00:1::/64", "fd00:1:0:1::2", false), ("fe80::/10", "febf::1", true),
            ("fe80::/10", "fec0::1", false), ("fd00::/8", "10.0.0.1", false), ("10.0.0.0/8", "fd00::1", false),
            // The same address, however it is written.
            ("10.0.0.0/8", "::ffff:10.0.0.1", true), ("10.0.0.0/8", "64:ff9b::a00:1", true),
            ("10.0.0.0/8", "2002:a00:1::1", true), ("::ffff:10.0.0.0/104", "10.1.2.3", true),
            ("::ffff:10.0.0.0/104", "192.168.1.1", false), ("::ffff:10.0.0.1", "10.0.0.1", true),
            ("10.0.0.0/8", "::ffff:192.168.1.1", false),
        ])
    func ranges(_ range: String, _ address: String, _ isPermitted: Bool) throws {
        #expect(try Self.permits(address, in: [range]) == isPermitted)
    }

    @Test(
        "A wide range has neither this machine nor a service that gives out credentials",
        arguments: [
            (["0.0.0.0/1", "128.0.0.0/1"], "127.0.0.1", false), (["127.0.0.0/8"], "127.0.0.1", true),
            (["127.0.0.1"], "127.0.0.1", true), (["126.0.0.0/7"], "127.0.0.1", false),
            (["0.0.0.0/1"], "0.0.0.0", false), (["0.0.0.0"], "0.0.0.0", true), (["::/1"], "::1", false),
            (["::1"], "::1", true), (["::/127"], "::1", false),
            (["::"], "::", true), (["127.0.0.0/8"], "::ffff:127.0.0.1", true),
            (["169.254.0.0/16"], "169.254.169.254", false), (["169.254.0.0/16"], "169.254.1.1", true),
            (["169.254.169.254/31"], "169.254.169.254", false), (["169.254.169.254"], "169.254.169.254", true),
            (["169.254.169.254/32"], "169.254.169.254", true), (["169.254.0.0/16"], "::ffff:169.254.169.254", false),
            (["169.254.0.0/16"], "64:ff9b::a9fe:a9fe", false), (["100.64.0.0/10"], "100.100.100.200", false),
            (["100.64.0.0/10"], "100.100.100.201", true), (["fd00::/8"], "fd00:ec2::254", false),
            (["fd00:ec2::254"], "fd00:ec2::254", true),
        ])
    func wideRanges(_ ranges: [String], _ address: String, _ isPermitted: Bool) throws {
        #expect(try Self.permits(address, in: ranges) == isPermitted)
    }

    @Test("A host that is named may be at any private address, but for its name no credentials are given out")
    func namedHosts() throws {
        for address in ["10.0.0.1", "127.0.0.1", "::1", "fd00::1", "192.168.1.1", "8.8.8.8"] {
            #expect(try Self.permits(address, .named), "\(address)")
        }
        for address in ["169.254.169.254", "::ffff:169.254.169.254", "64:ff9b::a9fe:a9fe", "fd00:ec2::254"] {
            #expect(try !Self.permits(address, .named), "\(address)")
            #expect(try Self.permits(address, host: address, .named), "\(address)")
        }
        #expect(try !Self.permits("169.254.169.254", host: "169.254.170.2", .named))
        #expect(try Self.permits("169.254.169.254", .named, in: ["169.254.169.254"]))
    }

    @Test("A host that is refused is at public addresses only, whatever the ranges") func refusedHosts() throws {
        #expect(try !Self.permits("10.0.0.1", .refused, in: ["10.0.0.0/8"]))
        #expect(try Self.permits("8.8.8.8", .refused))
    }

    @Test(
        "What is no range is refused with the form that is one",
        arguments: [
            ("192.168.1.5/24", "192.168.1.0/24"), ("fd00::1/64", "fd00::/64"), ("10.0.0.0/33", "1 to 32"),
            ("fd00::/129", "1 to 128"), ("10.0.0.0/", "1 to 32"), ("10.0.0.0/+8", "1 to 32"),
            ("10.0.0.0/-1", "1 to 32"),
            ("10.0.0.0/0008", "1 to 32"), ("0.0.0.0/0", "every address"), ("::/0", "every address"),
            ("10.0.0.0/8/8", "such as"), ("nas.lan/24", "such as"), ("/8", "such as"), ("", "such as"),
            ("[fd00::1]", "such as"), ("10.0.0/8", "such as"), ("010.0.0.1/32", "such as"), ("fe80::1%eth0", "such as"),
        ])
    func wrongTexts(_ text: String, _ advice: String) {
        #expect(AddressRange(text) == nil)
        #expect(AddressRange.objection(to: text)?.contains(advice) == true, "\(AddressRange.objection(to: text) ?? "")")
    }

    @Test("Right texts have no objection")
    func rightTexts() {
        for text in ["10.0.0.0/8", "10.1.2.3", "fd00::/8", "::1", "0.0.0.0/1", "::ffff:10.0.0.0/104"] {
            #expect(AddressRange.objection(to: text) == nil)
        }
    }
}
