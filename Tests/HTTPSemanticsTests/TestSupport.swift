import HTTPSemantics
import HTTPTypes

/// An entity tag that is known to be valid.
func tag(_ opaqueTag: String, isWeak: Bool = false) -> EntityTag {
    guard let tag = EntityTag(opaqueTag: opaqueTag, isWeak: isWeak) else { preconditionFailure("no tag: \(opaqueTag)") }
    return tag
}

/// A date that is known to be valid.
func date(_ value: String) -> HTTPDate {
    guard let date = HTTPDate(value) else { preconditionFailure("no date: \(value)") }
    return date
}

extension HTTPFields {
    /// Adds a field whose name has no constant.
    func adding(_ name: String, _ value: String) -> HTTPFields {
        guard let name = HTTPField.Name(name) else { preconditionFailure("no field name: \(name)") }
        var fields = self
        fields.append(HTTPField(name: name, value: value))
        return fields
    }
}

/// SplitMix64: every run sees the same sequence.
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
