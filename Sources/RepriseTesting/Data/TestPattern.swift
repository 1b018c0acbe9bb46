/// Test content whose byte at any offset is a pure function of the offset and a seed.
///
/// A file of 5 GB costs no memory and no disk, and a test can compute the expected bytes at any offset. Each step of
/// SplitMix64 gives eight bytes, so that neither a shift of the content nor a swap of two parts goes unnoticed.
public enum TestPattern {
    /// Returns the byte at `offset` of the pattern with this seed.
    public static func byte(at offset: Int64, seed: UInt64) -> UInt8 {
        UInt8(truncatingIfNeeded: word(at: offset >> 3, seed: seed) >> (UInt64(offset & 7) * 8))
    }

    /// Returns the bytes of a half-open range of the pattern with this seed.
    ///
    /// The pattern has no end of its own; the resource determines the length.
    public static func bytes(in range: Range<Int64>, seed: UInt64) -> [UInt8] {
        // The one empty array is shared, and the initializer would write its count.
        guard !range.isEmpty else { return [] }
        return [UInt8](unsafeUninitializedCapacity: range.count) { buffer, count in
            fill(UnsafeMutableRawBufferPointer(buffer), from: range.lowerBound, seed: seed)
            count = range.count
        }
    }

    /// Writes the bytes from `offset` on into `buffer`, as many as it holds.
    public static func fill(_ buffer: UnsafeMutableRawBufferPointer, from offset: Int64, seed: UInt64) {
        var position = offset
        var index = 0
        while index < buffer.count, position & 7 != 0 {
            buffer[index] = byte(at: position, seed: seed)
            index += 1
            position += 1
        }
        var state = state(at: position >> 3, seed: seed)
        while buffer.count - index >= 8 {
            buffer.storeBytes(of: scramble(state).littleEndian, toByteOffset: index, as: UInt64.self)
            state &+= increment
            index += 8
            position += 8
        }
        while index < buffer.count {
            buffer[index] = byte(at: position, seed: seed)
            index += 1
            position += 1
        }
    }

    /// The step of SplitMix64's counter: the golden ratio in 64 bits, odd.
    static let increment: UInt64 = 0x9E37_79B9_7F4A_7C15

    /// SplitMix64's output function, a bijection of 64 bits.
    static func scramble(_ state: UInt64) -> UInt64 {
        var word = state
        word = (word ^ (word >> 30)) &* 0xBF58_476D_1CE4_E5B9
        word = (word ^ (word >> 27)) &* 0x94D0_49BB_1331_11EB
        return word ^ (word >> 31)
    }

    private static func word(at index: Int64, seed: UInt64) -> UInt64 {
        scramble(state(at: index, seed: seed))
    }

    private static func state(at index: Int64, seed: UInt64) -> UInt64 {
        // Seeds 1, 2, 3 … must not give the same words a few places apart, so the seed is scrambled too.
        scramble(seed) &+ UInt64(bitPattern: index) &* increment
    }
}

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
