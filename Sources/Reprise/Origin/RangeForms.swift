import HTTPSemantics

/// The forms of a request for missing bytes, from the most exact to the most widely supported.
///
/// Some origins fail for a form that the player never used, such as `bytes=a-b`.
struct RangeForms: Sendable, Equatable {
    /// How far a request may reach beyond the missing bytes.
    enum Bound: Sendable, Equatable {
        /// Up to the end of the file, because a reader requested it or no player is waiting.
        case open
        /// Up to the end of the player's own range and no further, because the player may depend on its bounds.
        case player(Int64)
    }

    /// The current form; `nil` requests the whole representation, without Range.
    private(set) var current: RangeSpec?
    /// The fallback forms if an origin fails for ``current``, in order.
    private var others: [RangeSpec?]

    /// Creates the forms of a request for `range` of a representation with that length.
    ///
    /// `needsOpenEnd` means that the host is known to fail for the exact form.
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

    /// Creates a single form without fallbacks.
    init(only range: RangeSpec?) { self.init([range]) }

    /// Creates the form `range` as requested by a reader, with fallbacks if the range may be widened.
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

    /// Whether another form is left that requests a range.
    var hasOtherRange: Bool { others.contains { $0 != nil } }

    /// Advances to the next form; returns false if there is none.
    mutating func advance() -> Bool {
        guard !others.isEmpty else { return false }
        current = others.removeFirst()
        return true
    }
}

extension ResponseAction {
    /// Whether the form of the range may have caused the failure, so that another form can help.
    ///
    /// That is the case if the origin sent a different part, or rejected the request with `status` 400, 416 or 501.
    func isFaultOfForm(status: Int) -> Bool {
        switch self {
        case .reject(.invalidContentRange), .reject(.multipart), .reject(.wrongStart), .reject(.contentLength): true
        case .retryWithoutRange, .passThrough(.contradictoryRange): true
        case .refusal: [400, 416, 501].contains(status)
        default: false
        }
    }
}
