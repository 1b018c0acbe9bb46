/// The field that names the proxies that a message passed (RFC 9110 §7.6.3).
enum Via {
    /// What responses get.
    static let response = "1.1 reprise"
    /// What requests get.
    static let request = "1.1 \(name)"

    /// The name of this process, drawn at random: a request that carries it has come back.
    ///
    /// Responses do not need it, because only requests go around in a loop.
    private static let name = "reprise-" + String(UInt64.random(in: .min ... .max), radix: 16)

    /// Whether a request with this value was sent by this process.
    static func isOwn(_ value: String) -> Bool {
        value.split(separator: ",").contains { entry in
            entry.split(whereSeparator: { $0 == " " || $0 == "\t" }).dropFirst().first.map { $0 == name } ?? false
        }
    }
}
