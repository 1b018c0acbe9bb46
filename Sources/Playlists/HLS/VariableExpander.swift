/// Replaces variable references, within a limit for all that a playlist expands to.
struct VariableExpander {
    /// What becomes of a text.
    enum Result {
        /// It has no reference.
        case unchanged
        /// It reads like this.
        case expanded([UInt8])
        /// It names a variable that no earlier line defines.
        case undefined
        /// It would be longer than ``PlaylistLimits/linkLength``.
        case tooLong
    }

    /// Variables of the lines read so far.
    var variables: Variables
    private var remaining: Int
    private let budget: PlaylistBudget

    init(_ budget: PlaylistBudget, count: Int, variables: Variables) {
        self.variables = variables
        remaining = budget.limits.output(forInput: count)
        self.budget = budget
    }

    /// Expands `bytes[place]` once: what a value contains is not looked at again (rfc8216bis §4.3).
    ///
    /// Throws `expansionTooLong` when all expansions together exceed the limit of the output.
    mutating func expand(_ bytes: [UInt8], at place: Range<Int>) throws(PlaylistError) -> Result {
        guard var reference = bytes.firstPlace(of: "{$", in: place) else { return .unchanged }
        let longest = budget.limits.linkLength
        var result: [UInt8] = []
        var copied = place.lowerBound
        var isExpanded = false
        while true {
            let name = reference + 2
            var end = name
            while end < place.upperBound, Variables.isName(bytes[end]) { end += 1 }
            if end > name, end < place.upperBound, bytes[end] == UInt8(ascii: "}") {
                guard let value = variables[bytes: Array(bytes[name..<end])] else { return .undefined }
                isExpanded = true
                let (literal, added) = (reference - copied, value.count)
                guard result.count + literal + added <= longest else { return .tooLong }
                guard literal + added <= remaining else {
                    throw PlaylistError(
                        .expansionTooLong, "Variables expand to more than the playlist may become.", at: reference)
                }
                remaining -= literal + added
                try budget.spend(bytes: literal + added)
                result += bytes[copied..<reference]
                result += value
                copied = end + 1
            }
            guard let next = bytes.firstPlace(of: "{$", in: max(end, name)..<place.upperBound) else { break }
            reference = next
        }
        guard isExpanded else { return .unchanged }
        guard result.count + place.upperBound - copied <= longest else { return .tooLong }
        result += bytes[copied..<place.upperBound]
        return .expanded(result)
    }
}
