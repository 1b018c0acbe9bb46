/// The field that names the proxies that a message passed (RFC 9110 §7.6.3).
enum Via {
    /// What responses of the server called `name` get.
    static func response(by name: String) -> String { "1.1 \(name)" }

    /// What its requests get.
    static func request(by name: String) -> String { "1.1 \(name)\(mark)" }

    /// What follows the name of each server of this process, drawn at random: a request that carries it has come back.
    ///
    /// Responses do not need it, because only requests go around in a loop.
    private static let mark: String = {
        let digits = String(UInt64.random(in: .min ... .max), radix: 16)
        return "-" + String(repeating: "0", count: 16 - digits.count) + digits
    }()

    /// Whether a request with this value was sent by this process.
    static func isOwn(_ value: String) -> Bool {
        value.split(separator: ",").contains { entry in
            let words = entry.split(whereSeparator: { $0 == " " || $0 == "\t" })
            return words.dropFirst().first?.hasSuffix(mark) ?? false
        }
    }
}
