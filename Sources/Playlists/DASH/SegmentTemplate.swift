/// A pattern with identifiers between dollar signs (ISO/IEC 23009-1 §5.3.9.4.4).
struct SegmentTemplate {
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

    /// The pattern in which only numbers and times are left.
    ///
    /// Throws `expansionTooLong` if each link would be longer than ``PlaylistLimits/linkLength``, and `budgetExceeded`.
    func filled(
        representationID: String, bandwidth: Int64, within budget: PlaylistBudget
    ) throws(PlaylistError) -> SegmentTemplate {
        var result = SegmentTemplate([])
        var literal: [UInt8] = []
        var count = 0
        for piece in pieces {
            switch piece {
            case .literal(let bytes): literal += bytes
            case .representationID: literal += representationID.utf8
            case .bandwidth(let width): Self.append(bandwidth, width: width, to: &literal)
            case .number, .time:
                count += literal.count + 1
                if !literal.isEmpty { result.pieces.append(.literal(literal[...])) }
                literal = []
                result.pieces.append(piece)
            }
            guard count + literal.count <= budget.limits.linkLength else {
                try budget.spend(bytes: count + literal.count)
                throw PlaylistError(
                    .expansionTooLong, "A template stands for links longer than \(budget.limits.linkLength) bytes.")
            }
        }
        if !literal.isEmpty { result.pieces.append(.literal(literal[...])) }
        try budget.spend(bytes: count + literal.count)
        return result
    }

    /// Where the segment of this number and time is; unreadable if its link is longer than
    /// ``PlaylistLimits/linkLength``, or the budget is exceeded.
    ///
    /// Only of a pattern that is filled.
    func target(number: Int64, time: Int64, base: URIReference, within budget: PlaylistBudget) -> LinkTarget {
        guard budget.allows(steps: pieces.count) else { return .leftAlone(.unreadable(.budgetExceeded)) }
        var link: [UInt8] = []
        for piece in pieces {
            switch piece {
            case .literal(let bytes): link += bytes
            case .number(let width): Self.append(number, width: width, to: &link)
            case .time(let width): Self.append(time, width: width, to: &link)
            case .representationID, .bandwidth: break
            }
            guard link.count <= budget.limits.linkLength else { return .leftAlone(.unreadable(.expansionTooLong)) }
        }
        return budget.target(of: URIReference(bytes: link), base: base)
    }

    private static func append(_ number: Int64, width: Int, to result: inout [UInt8]) {
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
