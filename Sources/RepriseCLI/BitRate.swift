/// Bits per second as people read and write them: `5.2 Mbit/s`, `2Mbit`.
struct BitRate: CustomStringConvertible {
    let bitsPerSecond: Int64

    init(_ bitsPerSecond: Int64) { self.bitsPerSecond = bitsPerSecond }

    /// Units are powers of 1,000; `nil` for anything else, and for less than one bit.
    init?(argument: String) {
        let text = argument.lowercased()
        guard
            let (unit, factor) = [("gbit", 1e9), ("mbit", 1e6), ("kbit", 1e3), ("bit", 1.0)]
                .first(where: { text.hasSuffix($0.0) }),
            let number = Double(text.dropLast(unit.count)), number * factor >= 1, number * factor < 1e15
        else { return nil }
        bitsPerSecond = Int64(number * factor)
    }

    var description: String {
        switch bitsPerSecond {
        case ..<1000: "\(bitsPerSecond) bit/s"
        case ..<1_000_000: "\(bitsPerSecond / 1000) kbit/s"
        default: "\(bitsPerSecond / 1_000_000).\(bitsPerSecond / 100_000 % 10) Mbit/s"
        }
    }
}
