import Crypto
import Foundation
import Primitives

/// Seals and opens the chunks of one generation (AES-256-GCM, NIST SP 800-38D).
///
/// The sealed bytes are stored in place of the plain ones; nonce and tag are stored in the chunk's record. The format,
/// the key's name, the generation, the first byte and the length are authenticated with each chunk, so that none can be
/// moved, swapped or cut.
struct ChunkSealer: Sendable {
    private let key: SymmetricKey
    private let context: [UInt8]

    init(key: SymmetricKey, context: [UInt8]) {
        self.key = key
        self.context = context
    }

    private func context(_ start: Int64, length: Int) -> [UInt8] {
        var bytes = context
        withUnsafeBytes(of: start.littleEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: Int64(length).littleEndian) { bytes.append(contentsOf: $0) }
        return bytes
    }

    /// Seals `bytes`, which begin at `start`, with a new random nonce.
    func seal(_ bytes: ArraySlice<UInt8>, at start: Int64) throws -> (ciphertext: Data, chunk: Chunk) {
        let box = try AES.GCM.seal(bytes, using: key, authenticating: context(start, length: bytes.count))
        guard let seal = ChunkSeal(nonce: Array(box.nonce), tag: Array(box.tag)) else {
            throw CryptoKitError.incorrectParameterSize
        }
        return (box.ciphertext, Chunk(start: start, length: Int32(bytes.count), checksum: 0, seal: seal))
    }

    /// The plain bytes of `chunk`; `nil` unless the tag verifies.
    func open(_ ciphertext: [UInt8], of chunk: Chunk) -> Data? {
        guard let seal = chunk.seal, ciphertext.count == Int(chunk.length),
            let nonce = try? AES.GCM.Nonce(data: seal.nonce),
            let box = try? AES.GCM.SealedBox(nonce: nonce, ciphertext: ciphertext, tag: seal.tag)
        else { return nil }
        return try? AES.GCM.open(box, using: key, authenticating: context(chunk.start, length: Int(chunk.length)))
    }
}

/// Nonce and tag of a sealed chunk.
struct ChunkSeal: Hashable, Sendable {
    static let nonceLength = 12
    static let tagLength = 16
    /// Total length of nonce and tag, in bytes.
    static let length = nonceLength + tagLength

    private let words: (UInt64, UInt64, UInt64, UInt32)

    init?(nonce: [UInt8], tag: [UInt8]) {
        guard nonce.count == Self.nonceLength, tag.count == Self.tagLength else { return nil }
        self.init(bytes: (nonce + tag)[...])
    }

    /// Creates a seal from ``length`` bytes, the nonce first.
    init(bytes: ArraySlice<UInt8>) {
        var words: (UInt64, UInt64, UInt64, UInt32) = (0, 0, 0, 0)
        withUnsafeMutableBytes(of: &words) { $0.copyBytes(from: bytes.prefix(Self.length)) }
        self.words = words
    }

    var bytes: [UInt8] { withUnsafeBytes(of: words) { Array($0.prefix(Self.length)) } }
    var nonce: [UInt8] { Array(bytes.prefix(Self.nonceLength)) }
    var tag: [UInt8] { Array(bytes.suffix(Self.tagLength)) }

    static func == (one: Self, other: Self) -> Bool { one.words == other.words }

    func hash(into hasher: inout Hasher) {
        hasher.combine(words.0)
        hasher.combine(words.1)
    }
}

/// The last bytes of each running fetch of an encrypted cache, up to 64 KiB: readers see them at once, the disk only
/// complete and sealed.
///
/// The lock is a leaf.
final class UnsealedTails: Sendable {
    struct Tail: Sendable {
        var start: Int64
        var bytes: [UInt8] = []

        var end: Int64 { start + Int64(bytes.count) }
    }

    private let tails = Mutex<[FetchSchedule.FetchID: Tail]>([:])

    subscript(_ fetch: FetchSchedule.FetchID) -> Tail? { tails.withLock { $0[fetch] } }

    func set(_ tail: Tail?, for fetch: FetchSchedule.FetchID) { tails.withLock { $0[fetch] = tail } }

    /// Bytes of the tail that contains `position`, from there up to `end`.
    func bytes(from position: Int64, to end: Int64) -> ArraySlice<UInt8>? {
        tails.withLock { tails in
            guard let tail = tails.values.first(where: { $0.start <= position && position < $0.end }) else {
                return nil
            }
            return tail.bytes[Int(position - tail.start)..<Int(min(end, tail.end) - tail.start)]
        }
    }
}
