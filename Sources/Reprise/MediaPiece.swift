/// Some bytes of a read, in order: on disk, or in memory.
public enum MediaPiece: Sendable {
    /// A region of a file; a server may hand it to `sendfile`.
    case stored(StoredRegion)
    /// Bytes in memory: the cache is encrypted, or the store is off, full, broken, or the response must not be stored.
    case memory(any ByteChunk)

    /// Number of bytes.
    public var count: Int {
        switch self {
        case .stored(let region): region.count
        case .memory(let chunk): chunk.count
        }
    }

    /// The bytes, read from disk if need be.
    ///
    /// Blocks; throws ``RepriseError`` with code `storageUnavailable`.
    public func bytes() throws(RepriseError) -> [UInt8] {
        switch self {
        case .stored(let region): try region.bytes()
        case .memory(let chunk): chunk.withUnsafeBytes { [UInt8]($0) }
        }
    }
}

/// A verified region of a data file.
///
/// Holds the file open, so that eviction cannot take the bytes away.
public struct StoredRegion: Sendable {
    /// Which bytes of the representation, and of the file: they are the same.
    public let range: Range<Int64>
    package let file: DataFile
    /// Keeps the descriptor.
    private let openFile: any OpenFile
    /// Keeps eviction off these bytes.
    private let lease: Lease
    /// Whose bytes they are.
    private let generation: GenerationCore

    init(range: Range<Int64>, of generation: GenerationCore, _ openFile: any OpenFile, lease: Lease? = nil) {
        self.range = range
        self.generation = generation
        self.openFile = openFile
        file = generation.file
        self.lease = lease ?? file.leases.take(range)
    }

    /// Number of bytes.
    public var count: Int { Int(range.upperBound - range.lowerBound) }

    /// The open file's descriptor; valid while this value lives.
    public var fileDescriptor: Int32 { openFile.descriptor }

    /// The bytes.
    ///
    /// Blocks; throws ``RepriseError`` with code `storageUnavailable`. What cannot be read is a hole from then on.
    public func bytes() throws(RepriseError) -> [UInt8] {
        var failure: RepriseError?
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            do throws(RepriseError) {
                try read(into: UnsafeMutableRawBufferPointer(buffer))
                initialized = buffer.count
            } catch { failure = error }
        }
        if let failure { throw failure }
        return bytes
    }

    /// Reads the bytes into `buffer`, which has room for just them.
    ///
    /// Blocks; throws as ``bytes()`` does.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(RepriseError) {
        precondition(buffer.count == count)
        do throws(RepriseError) {
            // It is open as long as this value lives.
            guard try file.read(into: buffer, at: range.lowerBound) == count else {
                throw RepriseError(.storageUnavailable, "\(file.path) is shorter than its records.", range: range)
            }
        } catch {
            reportUnreadable()
            throw error
        }
    }

    /// Fills `buffer`, which has room for just them, if no disk is needed for that; false otherwise.
    ///
    /// Throws as ``bytes()`` does.
    package func readResident(into buffer: UnsafeMutableRawBufferPointer) throws(RepriseError) -> Bool {
        precondition(buffer.count == count)
        do throws(SystemError) {
            return try isFilled(buffer, from: range.lowerBound)
        } catch {
            reportUnreadable()
            throw RepriseError(.storageUnavailable, "Cannot read \(file.path).", cause: error)
        }
    }

    /// Whether all bytes of `buffer` could be read without waiting.
    private func isFilled(
        _ buffer: UnsafeMutableRawBufferPointer, from offset: Int64
    ) throws(SystemError) -> Bool {
        var count = 0
        while count < buffer.count {
            let rest = UnsafeMutableRawBufferPointer(rebasing: buffer[count...])
            guard let got = try openFile.readResident(into: rest, at: offset + Int64(count)), got > 0 else {
                return false
            }
            count += got
        }
        return true
    }

    /// Distance of the bytes that ``isResident`` looks at: what the kernel reads ahead at once.
    private static let residencyStep: Int64 = 128 << 10

    /// Whether `sendfile` would find the bytes in memory, as far as one byte in 128 KiB, and the last one, tell.
    ///
    /// True where the system cannot tell. Does not wait for the disk.
    package var isResident: Bool {
        var probe: UInt8 = 0
        return withUnsafeMutableBytes(of: &probe) { probe in
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: Int(Self.residencyStep)) {
                if (try? isFilled(probe, from: offset)) == false { return false }
            }
            return (try? isFilled(probe, from: range.upperBound - 1)) != false
        }
    }

    /// Brings the bytes into the system's memory.
    ///
    /// Blocks. An error shows when the bytes are sent.
    package func warm() {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(Self.residencyStep, range.upperBound - position))
            guard (try? file.read(at: position, count: count)) != nil else { return }
            position += Int64(count)
        }
    }

    /// The next bytes of the same generation, at most `count` of them and none from `end` on, if they are stored and
    /// verified; also if another generation has replaced it: a response that began with it ends with it.
    ///
    /// Never waits.
    package func following(_ count: Int64, upTo end: Int64) -> StoredRegion? {
        guard count > 0, end > range.upperBound else { return nil }
        return generation.storedRegion(
            range.upperBound..<range.upperBound + min(count, end - range.upperBound), in: openFile)
    }

    /// Its bytes could not be read through ``fileDescriptor``: they become a hole, and the next read fetches them.
    public func reportUnreadable() { generation.markUnreadable(range) }

    /// Whether the file reaches so far: `sendfile` never ends where it does not.
    package var isPresent: Bool { (try? openFile.status()).map { $0.size >= range.upperBound } ?? false }
}

/// A response of which every byte is stored and verified, and its beginning.
package struct StoredHit: Sendable {
    /// Its first bytes.
    package let region: StoredRegion
    /// All of it.
    package let range: Range<Int64>
    /// What is known of the representation.
    package let information: ContentInformation
}

/// Where the bytes of a piece came from.
public enum PieceSource: String, Sendable, CaseIterable {
    /// They were on disk before the read began.
    case store
    /// Another reader's fetch brought them meanwhile.
    case joined
    /// This read's own fetch brought them.
    case origin
}
