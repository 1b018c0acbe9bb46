/// A type of four characters, as in MP4 and RIFF.
struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral {
    let value: UInt32

    init(value: UInt32) { self.value = value }

    /// The first four characters of an ASCII literal.
    init(stringLiteral text: StaticString) {
        var value: UInt32 = 0
        for index in 0..<min(4, text.utf8CodeUnitCount) { value = value << 8 | UInt32(text.utf8Start[index]) }
        self.value = value
    }
}
