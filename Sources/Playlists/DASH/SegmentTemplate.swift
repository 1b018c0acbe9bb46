/// A pattern with identifiers between dollar signs (ISO/IEC 23009-1 §5.3.9.4.4).
struct SegmentTemplate {
    /// What is put in.
    struct Values {
        var representationID: String
        var bandwidth: Int64
        var number: Int64
        var time: Int64
    }

    private enum Piece {
        case literal(ArraySlice<UInt8>)
        case representationID
        case number(width: Int)
        case bandwidth(width: Int)
        case time(width: Int)
    }

    private var pieces: [Piece] = []

    /// Splits a pattern; an identifier that is not known, such as `$SubNumber$`, stays as written.
    init(_ pattern: [UInt8]) {
        let dollar = UInt8(ascii: "$")
        var index = 0
        while let first = pattern[index...].firstIndex(of: dollar) {
            if index < first { pieces.append(.literal(pattern[index..<first])) }
            guard let second = pattern[(first + 1)...].firstIndex(of: dollar) else {
                index = first
                break
            }
            if second == first + 1 {
                pieces.append(.literal(pattern[first..<second]))
            } else {
                pieces.append(Self.piece(pattern, at: first + 1..<second) ?? .literal(pattern[first...second]))
            }
            index = second + 1
        }
        if index < pattern.count { pieces.append(.literal(pattern[index...])) }
    }

    /// Whether each segment has a name of its own.
    var namesSegments: Bool {
        pieces.contains { piece in
            switch piece {
            case .number, .time: true
            default: false
            }
        }
    }

    /// What makes the names of one representation's segments differ, as in the pattern: `$Number%05d$`, `$Time$`.
    var identifiers: [String] {
        pieces.compactMap { piece in
            switch piece {
            case .number(let width): "$Number\(Self.format(width))$"
            case .time(let width): "$Time\(Self.format(width))$"
            default: nil
            }
        }
    }

    private static func format(_ width: Int) -> String {
        width == 1 ? "" : "%0\(width)d"
    }

    /// The link for these values.
    func expanded(_ values: Values) -> [UInt8] {
        var result: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): result += bytes
            case .representationID: result += values.representationID.utf8
            case .number(let width): append(values.number, width: width, to: &result)
            case .bandwidth(let width): append(values.bandwidth, width: width, to: &result)
            case .time(let width): append(values.time, width: width, to: &result)
            }
        }
        return result
    }

    private func append(_ number: Int64, width: Int, to result: inout [UInt8]) {
        let digits = Array(String(number).utf8)
        for _ in digits.count..<max(width, digits.count) { result.append(UInt8(ascii: "0")) }
        result += digits
    }

    /// `Name` or `Name%0Wd`.
    private static func piece(_ pattern: [UInt8], at place: Range<Int>) -> Piece? {
        let percent = pattern[place].firstIndex(of: UInt8(ascii: "%"))
        let name = place.lowerBound..<(percent ?? place.upperBound)
        var width = 1
        if let percent {
            let format = percent + 1..<place.upperBound
            guard pattern[format].last == UInt8(ascii: "d"),
                let number = Number.integer(pattern, at: format.lowerBound..<format.upperBound - 1), number <= 32
            else { return nil }
            width = Int(number)
        }
        if pattern.matches(name, text: "RepresentationID"), percent == nil { return .representationID }
        if pattern.matches(name, text: "Number") { return .number(width: width) }
        if pattern.matches(name, text: "Bandwidth") { return .bandwidth(width: width) }
        if pattern.matches(name, text: "Time") { return .time(width: width) }
        return nil
    }
}
