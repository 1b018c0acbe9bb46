/// Addresses that begin with the same bits, as CIDR writes them (RFC 4632 §3.1): `192.168.1.0/24`, or one address.
///
/// An IPv4 address inside an IPv6 one (`::ffff:192.0.2.7`) counts as the IPv4 address.
package struct AddressRange: Sendable, Hashable {
    private let first: AddressBytes
    private let prefix: Int

    private init(_ first: AddressBytes, prefix: Int) { (self.first, self.prefix) = (first, prefix) }

    /// `nil` if `text` is neither an address nor one with the length of a prefix, if bits behind the prefix are set,
    /// and for a prefix of no bits, which would be all addresses.
    package init?(_ text: String) {
        guard case .success(let range) = Self.parse(text) else { return nil }
        self = range
    }

    /// Whether it is one address.
    var isSingle: Bool { prefix == first.bitCount }

    /// Whether the range has `address`.
    func contains(_ address: AddressBytes) -> Bool { address.masked(to: prefix) == first }

    /// Whether the range has the address that `text` writes, also an IPv4 one inside an IPv6 one.
    package func contains(literal text: String) -> Bool {
        guard let address = AddressBytes(literal: text) else { return false }
        return contains(address) || address.embedded.map(contains) == true
    }

    /// Whether all addresses of this range lie in `other`.
    func lies(in other: AddressRange) -> Bool { prefix >= other.prefix && other.contains(first) }

    // MARK: - Text

    /// Why `text` is no range, with the correct form; `nil` if it is one.
    package static func objection(to text: String) -> String? {
        guard case .failure(let problem) = parse(text) else { return nil }
        return problem.advice
    }

    private struct Problem: Error {
        let advice: String
    }

    private static func parse(_ text: String) -> Result<AddressRange, Problem> {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), let written = AddressBytes(literal: String(parts[0])) else {
            return .failure(Problem(advice: "give a network such as 192.168.1.0/24 or fd00:1::/64."))
        }
        guard parts.count == 2 else {
            return .success(AddressRange(written.embedded ?? written, prefix: (written.embedded ?? written).bitCount))
        }
        let isNumber = (1...3).contains(parts[1].utf8.count) && parts[1].utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isNumber, let prefix = Int(parts[1]), prefix <= written.bitCount else {
            return .failure(Problem(advice: "the number behind the slash is 1 to \(written.bitCount)."))
        }
        guard prefix > 0 else {
            return .failure(Problem(advice: "that is every address; give the networks that you mean."))
        }
        let first = written.masked(to: prefix)
        guard first == written else {
            return .failure(Problem(advice: "the network is written \(first.text)/\(prefix)."))
        }
        // A range of IPv4 addresses inside IPv6 ones: the bits of the IPv4 address are the last 32.
        if let embedded = written.embedded, embedded == AddressBytes(written.bytes.suffix(4)), prefix >= 97 {
            return .success(AddressRange(embedded, prefix: prefix - 96))
        }
        return .success(AddressRange(first, prefix: prefix))
    }
}
