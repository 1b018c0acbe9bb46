import HTTPSemantics

/// The bytes that a read wants, with half-open bounds.
struct ReadExtent: Sendable, Equatable {
    let start: Int64
    /// `nil` for the end of a representation of unknown length.
    let end: Int64?

    /// `spec` in bytes, the whole for `nil`; fails when it is unsatisfiable.
    ///
    /// A suffix of an unknown length is the whole (RFC 9110 §14.2: a server may ignore the range).
    init?(_ spec: RangeSpec?, completeLength: Int64?) {
        guard let spec else {
            (start, end) = (0, completeLength)
            return
        }
        if let completeLength {
            guard let range = spec.resolve(completeLength: completeLength) else { return nil }
            (start, end) = (range.lowerBound, range.upperBound)
            return
        }
        switch spec {
        case .bounded(let range): (start, end) = (range.lowerBound, range.upperBound)
        case .from(let start): (self.start, end) = (start, nil)
        case .suffix: (start, end) = (0, nil)
        }
    }

    /// The error for an unsatisfiable range (RFC 9110 §15.5.17).
    static func notSatisfiable(_ length: Int64) -> RepriseError {
        RepriseError(.rangeNotSatisfiable, "The range lies outside the \(length) bytes of the representation.")
    }
}
