import ArgumentParser
import HTTPSemantics
import Reprise

/// A number of bytes as people write it: `2GB`, `500 MB`, `1.5GiB`, `4096B`.
struct ByteCount: Measure, Sendable, Equatable, CustomStringConvertible {
    let bytes: Int64

    static let rule = "takes a size with its unit, \(units), such as 500MB or 2GB."
    /// The units, for people.
    static let units = "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"

    init(_ bytes: Int64) { self.bytes = bytes }

    /// Decimal units (kB, MB, GB, TB) are powers of 1,000, binary ones (KiB, MiB, GiB, TiB) of 1,024.
    ///
    /// Only 0 needs none.
    init?(argument: String) {
        let text = argument.lowercased().filter { $0 != " " && $0 != "_" }
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        let unit = String(text.dropFirst(number.count))
        guard let value = Double(number), value >= 0,
            let factor = unit.isEmpty && value == 0 ? 1 : Self.factors[unit]
        else { return nil }
        let bytes = value * factor
        guard bytes <= Double(Int64.largestPosition) else { return nil }
        self.bytes = Int64(bytes)
    }

    /// The number as it is written, in the largest unit in which it is whole.
    var defaultValueDescription: String {
        let units =
            [
                ("TB", 1_000_000_000_000), ("GB", 1_000_000_000), ("MB", 1_000_000), ("kB", 1000), ("TiB", 1 << 40),
                ("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10),
            ] as [(String, Int64)]
        let whole = units.filter { bytes > 0 && bytes % $0.1 == 0 }.min { bytes / $0.1 < bytes / $1.1 }
        return whole.map { "\(bytes / $0.1)\($0.0)" } ?? "\(bytes)B"
    }

    private static let factors: [String: Double] = [
        "b": 1, "k": 1e3, "kb": 1e3, "m": 1e6, "mb": 1e6, "g": 1e9, "gb": 1e9, "t": 1e12, "tb": 1e12,
        "kib": 1_024, "mib": 1_048_576, "gib": 1_073_741_824, "tib": 1_099_511_627_776,
    ]

    /// Three significant digits and a decimal unit.
    var description: String { ByteText.decimal(bytes) }

    /// `value` with so many digits after the point, without Foundation's locale.
    static func fixed(_ value: Double, digits: Int) -> String { ByteText.fixed(value, digits: digits) }
}

/// A value with a unit on the command line.
protocol Measure: ExpressibleByArgument {
    /// The accepted values, to follow the option's name in an error message: "takes a size with its unit, …"
    static var rule: String { get }
}

extension Measure {
    /// Parses the value of an option.
    ///
    /// Throws an error that contains ``rule`` if `text` is not a valid value.
    @Sendable static func read(_ text: String) throws(ValidationError) -> Self {
        guard let value = Self(argument: text) else { throw ValidationError("it \(rule)") }
        return value
    }
}

/// How full a cache is, such as `13.0 MB of 2.00 GB stored, 31.2 GB free on the disk`.
struct StoredRoom: CustomStringConvertible {
    let storedBytes, limit: Int64
    /// Free space on the disk, in bytes; `nil` if unknown.
    let freeBytes: Int64?

    var description: String { "\(ByteCount(storedBytes)) of \(ByteCount(limit)) stored\(free)" }

    private var free: String { freeBytes.map { ", \(ByteCount($0)) free on the disk" } ?? "" }
}
