import HTTPSemantics

/// The forms in which missing bytes can be requested, from the most exact one to the one that every origin understands.
///
/// Pure. Some origins fail at a form that the player never used, such as `bytes=a-b`.
struct RangeForms: Sendable, Equatable {
    /// How far a request may reach beyond the missing bytes.
    enum Bound: Sendable, Equatable {
        /// To the end of the file: a reader requested as much, or no player waits for it.
        case open
        /// To where the player's own range ends, and no further, because it may have reasons for its bounds.
        case player(Int64)
    }

    /// The form to use now; `nil` for the whole, without Range.
    private(set) var current: RangeSpec?
    /// The forms to use if an origin fails at ``current``, in this order.
    private var others: [RangeSpec?]

    /// The forms of a request for `range` of a representation of that length.
    ///
    /// With `needsOpenEnd`, the host is known to fail at the exact form.
    init(_ range: Range<Int64>, within bound: Bound, completeLength: Int64?, needsOpenEnd: Bool = false) {
        let reachesEnd = range.upperBound == .max || range.upperBound == completeLength
        var forms: [RangeSpec?] = []
        switch bound {
        case .open:
            if !reachesEnd { forms.append(.bounded(range)) }
            forms.append(.from(range.lowerBound))
        case .player(let end):
            forms.append(.bounded(range))
            if end > range.upperBound { forms.append(.bounded(range.lowerBound..<end)) }
        }
        if needsOpenEnd, forms.count > 1 { forms.removeFirst() }
        self.init(forms + [nil])
    }

    /// The one form `range`.
    init(only range: RangeSpec?) { self.init([range]) }

    /// The form `range`, chosen by a reader, and its substitutes if it may be widened.
    init(_ range: RangeSpec?, mayWiden: Bool) {
        switch range {
        case .bounded(let bytes)? where mayWiden: self.init(bytes, within: .open, completeLength: nil)
        case .from? where mayWiden: self.init([range, nil])
        default: self.init(only: range)
        }
    }

    private init(_ forms: [RangeSpec?]) {
        current = forms[0]
        others = Array(forms.dropFirst())
    }

    /// Goes on to the next form; false if there is none.
    mutating func advance() -> Bool {
        guard !others.isEmpty else { return false }
        current = others.removeFirst()
        return true
    }
}

extension ResponseAction {
    /// Whether the origin may have failed at the form of the range, so that another form can help: it sent another part
    /// than requested, or an error about the request, with this status.
    func isFaultOfForm(status: Int) -> Bool {
        switch self {
        case .reject(.invalidContentRange), .reject(.multipart), .reject(.wrongStart), .reject(.contentLength): true
        case .retryWithoutRange, .passThrough(.contradictoryRange): true
        case .refusal: [400, 416, 501].contains(status)
        default: false
        }
    }
}
