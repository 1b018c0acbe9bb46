import Foundation
import RepriseTesting

/// The bytes of one version of a file, in one language.
struct Representation: Sendable, Hashable {
    let version: Int
    /// Complete length, in bytes.
    let length: Int64
    /// Of the pattern.
    let seed: UInt64

    /// How many of `bytes` differ from the representation at `offset`; `scratch` has room for as many.
    func differences(in bytes: UnsafeRawBufferPointer, at offset: Int64, _ scratch: inout [UInt8]) -> Int {
        guard offset + Int64(bytes.count) <= length else { return bytes.count }
        return scratch.withUnsafeMutableBytes { scratch in
            let expected = UnsafeMutableRawBufferPointer(rebasing: scratch[..<bytes.count])
            // Another version shows in its first bytes.
            let beginning = UnsafeMutableRawBufferPointer(rebasing: expected.prefix(16))
            TestPattern.fill(beginning, from: offset, seed: seed)
            if zip(beginning, bytes).allSatisfy({ $0 != $1 }) { return bytes.count }
            TestPattern.fill(expected, from: offset, seed: seed)
            if let one = expected.baseAddress, let other = bytes.baseAddress, memcmp(one, other, bytes.count) == 0 {
                return 0
            }
            return zip(expected, bytes).reduce(0) { $0 + ($1.0 == $1.1 ? 0 : 1) }
        }
    }
}

/// Checks the bytes of one response, all of which must belong to one version.
struct BodyCheck {
    /// The versions that match all bytes so far.
    private(set) var candidates: [Representation]
    /// The offset of the next byte.
    private(set) var position: Int64
    /// Bytes that match none of the versions that matched before.
    private(set) var wrongBytes = 0
    private var scratch: [UInt8] = []

    init(from position: Int64, candidates: [Representation]) {
        self.position = position
        self.candidates = candidates
    }

    /// The version of the bytes, once only one matches.
    var version: Int? { candidates.count == 1 ? candidates[0].version : nil }

    mutating func take(_ bytes: UnsafeRawBufferPointer) {
        if scratch.count < bytes.count { scratch = [UInt8](repeating: 0, count: bytes.count) }
        var fitting: [Representation] = []
        var fewest = bytes.count
        for candidate in candidates {
            let differences = candidate.differences(in: bytes, at: position, &scratch)
            if differences == 0 { fitting.append(candidate) }
            fewest = min(fewest, differences)
        }
        if fitting.isEmpty { wrongBytes += fewest } else { candidates = fitting }
        position += Int64(bytes.count)
    }
}
