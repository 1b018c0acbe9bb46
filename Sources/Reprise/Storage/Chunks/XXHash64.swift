/// Streaming XXH64, the checksum of stored chunks.
///
/// Detects accidents (torn writes, bit rot), not tampering. Algorithm: github.com/Cyan4973/xxHash, doc/xxhash_spec.md,
/// "XXH64 Algorithm Description". Seed 0.
package struct XXHash64: Sendable {
    private static let prime1: UInt64 = 0x9E37_79B1_85EB_CA87
    private static let prime2: UInt64 = 0xC2B2_AE3D_27D4_EB4F
    private static let prime3: UInt64 = 0x1656_67B1_9E37_79F9
    private static let prime4: UInt64 = 0x85EB_CA77_C2B2_AE63
    private static let prime5: UInt64 = 0x27D4_EB2F_1656_67C5
    private static let stripe = 32

    private var lanes: SIMD4<UInt64>
    private var buffer: SIMD4<UInt64> = .zero
    private var buffered = 0
    private var total: UInt64 = 0

    init() {
        lanes = SIMD4(Self.prime1 &+ Self.prime2, Self.prime2, 0, 0 &- Self.prime1)
    }

    /// The checksum of `bytes`.
    package static func checksum(of bytes: UnsafeRawBufferPointer) -> UInt64 {
        var hash = XXHash64()
        hash.update(bytes)
        return hash.digest()
    }

    /// Appends `bytes`.
    mutating func update(_ bytes: UnsafeRawBufferPointer) {
        total &+= UInt64(bytes.count)
        var offset = 0
        if buffered > 0 {
            offset = min(Self.stripe - buffered, bytes.count)
            fillBuffer(from: bytes, count: offset)
            guard buffered == Self.stripe else { return }
            consume(buffer)
            buffered = 0
        }
        var (a, b, c, d) = (lanes[0], lanes[1], lanes[2], lanes[3])
        while bytes.count - offset >= Self.stripe {
            a = Self.round(a, adding: Self.word(bytes, at: offset))
            b = Self.round(b, adding: Self.word(bytes, at: offset + 8))
            c = Self.round(c, adding: Self.word(bytes, at: offset + 16))
            d = Self.round(d, adding: Self.word(bytes, at: offset + 24))
            offset += Self.stripe
        }
        lanes = SIMD4(a, b, c, d)
        if offset < bytes.count {
            fillBuffer(from: UnsafeRawBufferPointer(rebasing: bytes[offset...]), count: bytes.count - offset)
        }
    }

    /// The checksum of everything appended so far; more may be appended afterwards.
    func digest() -> UInt64 {
        var hash: UInt64
        if total >= UInt64(Self.stripe) {
            hash = Self.rotate(lanes[0], by: 1) &+ Self.rotate(lanes[1], by: 7) &+ Self.rotate(lanes[2], by: 12)
            hash = hash &+ Self.rotate(lanes[3], by: 18)
            for index in 0..<4 {
                hash = (hash ^ Self.round(0, adding: lanes[index])) &* Self.prime1 &+ Self.prime4
            }
        } else {
            hash = Self.prime5
        }
        hash &+= total
        return Self.avalanche(withUnsafeBytes(of: buffer) { mixTail($0, into: hash) })
    }

    private func mixTail(_ tail: UnsafeRawBufferPointer, into start: UInt64) -> UInt64 {
        var hash = start
        var offset = 0
        while buffered - offset >= 8 {
            hash ^= Self.round(0, adding: Self.word(tail, at: offset))
            hash = Self.rotate(hash, by: 27) &* Self.prime1 &+ Self.prime4
            offset += 8
        }
        if buffered - offset >= 4 {
            let half = UInt32(littleEndian: tail.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            hash ^= UInt64(half) &* Self.prime1
            hash = Self.rotate(hash, by: 23) &* Self.prime2 &+ Self.prime3
            offset += 4
        }
        while offset < buffered {
            hash ^= UInt64(tail[offset]) &* Self.prime5
            hash = Self.rotate(hash, by: 11) &* Self.prime1
            offset += 1
        }
        return hash
    }

    private mutating func fillBuffer(from bytes: UnsafeRawBufferPointer, count: Int) {
        let start = buffered
        withUnsafeMutableBytes(of: &buffer) { target in
            for index in 0..<count { target[start + index] = bytes[index] }
        }
        buffered += count
    }

    private mutating func consume(_ block: SIMD4<UInt64>) {
        for index in 0..<4 { lanes[index] = Self.round(lanes[index], adding: UInt64(littleEndian: block[index])) }
    }

    @inline(__always)
    private static func word(_ bytes: UnsafeRawBufferPointer, at offset: Int) -> UInt64 {
        UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
    }

    @inline(__always)
    private static func round(_ lane: UInt64, adding input: UInt64) -> UInt64 {
        rotate(lane &+ input &* prime2, by: 31) &* prime1
    }

    @inline(__always)
    private static func rotate(_ value: UInt64, by count: UInt64) -> UInt64 {
        value &<< count | value &>> (64 &- count)
    }

    private static func avalanche(_ value: UInt64) -> UInt64 {
        var hash = value
        hash = (hash ^ hash &>> 33) &* prime2
        hash = (hash ^ hash &>> 29) &* prime3
        return hash ^ hash &>> 32
    }
}
