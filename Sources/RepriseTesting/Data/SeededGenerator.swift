/// A random number generator whose sequence depends on its seed alone: SplitMix64.
///
/// For tests that can be repeated with the seed from their failure message. Not for secrets.
public struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Creates a generator; equal seeds give equal sequences.
    public init(seed: UInt64) {
        state = seed
    }

    /// Returns the next 64 random bits.
    public mutating func next() -> UInt64 {
        state &+= TestPattern.increment
        return TestPattern.scramble(state)
    }
}
