import RepriseTesting

/// Determines where wrong bytes come from, the first thing to know about a defect.
struct Provenance {
    /// The inverses of SplitMix64's multipliers and of its increment, modulo 2^64.
    private static let inverses: (first: UInt64, second: UInt64, increment: UInt64) = (
        0x3196_42B2_D24D_8EC3, 0x96DE_1B17_3F11_9089, 0xF1DE_83E1_9937_733D
    )

    let description: String

    /// Searches for `bytes` in every version of every file.
    init(of bytes: UnsafeRawBufferPointer, in library: Library) {
        if bytes.allSatisfy({ $0 == 0 }) {
            description = "zeros"
            return
        }
        for alignment in 0..<8 where bytes.count >= alignment + 16 {
            let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: alignment, as: UInt64.self))
            if let place = Self.place(of: Self.unscramble(word), alignment, bytes, library) {
                description = place
                return
            }
        }
        let beginning = bytes.prefix(16).map { String($0, radix: 16) }.joined(separator: " ")
        description = "of no file, \(bytes.count { $0 == 0 }) zeros, beginning with \(beginning)"
    }

    private static func place(
        of state: UInt64, _ alignment: Int, _ bytes: UnsafeRawBufferPointer, _ library: Library
    ) -> String? {
        for file in library.files {
            for language in 0..<(file.kind == .varying ? 3 : 1) {
                for version in file.representations(language: language) {
                    let offset = (state &- firstState(version.seed)) &* inverses.increment &* 8
                    guard offset < UInt64(version.length), offset >= UInt64(alignment) else { continue }
                    let start = Int64(offset) - Int64(alignment)
                    let check = TestPattern.bytes(in: start..<start + 16, seed: version.seed)
                    guard check.elementsEqual(bytes.prefix(16)) else { continue }
                    return "bytes of \(file.path) version \(version.version) from \(start) on"
                }
            }
        }
        return nil
    }

    /// The state of the pattern at offset 0, from which its first word is derived.
    private static func firstState(_ seed: UInt64) -> UInt64 {
        let first = TestPattern.bytes(in: 0..<8, seed: seed).enumerated().reduce(UInt64(0)) {
            $0 | UInt64($1.element) << (8 * UInt64($1.offset))
        }
        return unscramble(first)
    }

    /// The inverse of SplitMix64's output function.
    static func unscramble(_ word: UInt64) -> UInt64 {
        var word = word ^ (word >> 31) ^ (word >> 62)
        word &*= inverses.first
        word ^= (word >> 27) ^ (word >> 54)
        word &*= inverses.second
        return word ^ (word >> 30) ^ (word >> 60)
    }
}
