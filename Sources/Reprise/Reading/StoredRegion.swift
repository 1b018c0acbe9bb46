public import ByteRanges
import Foundation
public import HTTPSemantics

/// A verified region of a data file.
///
/// Keeps the file open and protects the bytes from eviction.
public struct StoredRegion: Sendable {
    /// The bytes' range in the representation and, identically, in the file.
    public let range: Range<Int64>
    package let file: DataFile
    /// Retains the descriptor.
    private let openFile: any OpenFile
    /// Protects these bytes from eviction.
    private let lease: Lease
    /// The generation that the bytes belong to.
    private let generation: Generation

    init(range: Range<Int64>, of generation: Generation, openFile: any OpenFile, lease: Lease? = nil) {
        self.range = range
        self.generation = generation
        self.openFile = openFile
        file = generation.bytes.file
        self.lease = lease ?? file.leases.take(range)
    }

    /// Number of bytes.
    public var count: Int { Int(range.upperBound - range.lowerBound) }

    /// The open file's descriptor; valid while this value lives.
    public var fileDescriptor: Int32 { openFile.descriptor }

    /// The bytes.
    ///
    /// Blocks; throws ``RepriseError`` with code `storageUnavailable`. Bytes that cannot be read become a hole.
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

    /// Reads the bytes into `buffer`, whose size must be ``count``.
    ///
    /// Blocks; throws as ``bytes()`` does.
    package func read(into buffer: UnsafeMutableRawBufferPointer) throws(RepriseError) {
        precondition(buffer.count == count)
        do throws(RepriseError) {
            // The file stays open as long as this value lives.
            guard try file.read(into: buffer, at: range.lowerBound) == count else {
                throw RepriseError(.storageUnavailable, "\(file.path) is shorter than its records.", range: range)
            }
        } catch {
            if !isCutOff() { reportUnreadable() }
            throw error
        }
    }

    /// Fills `buffer`, whose size must be ``count``, if that needs no disk access; returns false otherwise.
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

    /// Whether all bytes of `buffer` could be read without waiting for the disk.
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

    /// Distance between the bytes that ``isResident`` probes: what the kernel reads ahead at once.
    private static let residencyStep: Int64 = 128 << 10

    /// Whether `sendfile` would find the bytes in memory, judged by one byte in 128 KiB and the last one.
    ///
    /// True if the system cannot tell. Does not wait for the disk.
    package var isResident: Bool {
        var probe: UInt8 = 0
        return withUnsafeMutableBytes(of: &probe) { probe in
            for offset in stride(from: range.lowerBound, to: range.upperBound, by: Int(Self.residencyStep)) {
                if (try? isFilled(probe, from: offset)) == false { return false }
            }
            return (try? isFilled(probe, from: range.upperBound - 1)) != false
        }
    }

    /// Brings the bytes into the page cache.
    ///
    /// Blocks. Errors are ignored here; they appear when the bytes are sent.
    package func warm() {
        var position = range.lowerBound
        while position < range.upperBound {
            let count = Int(min(Self.residencyStep, range.upperBound - position))
            guard (try? file.read(at: position, count: count)) != nil else { return }
            position += Int64(count)
        }
    }

    /// The next bytes of the same generation, at most `count` and up to `end`, if they are stored and verified; even if
    /// another generation has replaced it, because a response must end with the generation it began with.
    ///
    /// Never waits.
    package func following(_ count: Int64, upTo end: Int64) -> StoredRegion? {
        guard count > 0, end > range.upperBound else { return nil }
        return generation.storedRegion(
            range.upperBound..<range.upperBound + min(count, end - range.upperBound), in: openFile)
    }

    /// The region in pieces of at most `count` bytes, in order; each protects the whole region from eviction.
    package func pieces(atMost count: Int64) -> [StoredRegion] {
        stride(from: range.lowerBound, to: range.upperBound, by: Int(count)).map { start in
            part(start..<min(start + count, range.upperBound))
        }
    }

    /// The first `count` bytes, and the others; each protects the whole region from eviction.
    package func split(at count: Int) -> (StoredRegion, StoredRegion) {
        let middle = range.lowerBound + Int64(count)
        return (part(range.lowerBound..<middle), part(middle..<range.upperBound))
    }

    private func part(_ range: Range<Int64>) -> StoredRegion {
        StoredRegion(range: range, of: generation, openFile: openFile, lease: lease)
    }

    /// Reports that the bytes could not be read through ``fileDescriptor``; they become a hole, and the next read
    /// fetches them.
    public func reportUnreadable() { generation.markUnreadable(range) }

    /// Whether the file ends before the region does; what lies beyond its end is a hole then.
    ///
    /// `sendfile` never ends with such a region.
    package func isCutOff() -> Bool {
        guard let size = try? openFile.status().size else {
            reportUnreadable()
            return true
        }
        guard size < range.upperBound else { return false }
        generation.markCutOff(at: size)
        return true
    }
}

/// The beginning of a response of which every byte is stored and verified.
package struct StoredHit: Sendable {
    /// The first bytes.
    package let region: StoredRegion
    /// The range of the whole response.
    package let range: Range<Int64>
    /// The metadata of the representation.
    package let information: ContentInformation
}

/// The stored response of a resource at the moment of a lookup, which never asks the origin.
///
/// ```swift
/// if let stored = await film.stored() {
///     print(stored.ranges.byteCount, "of", stored.information.completeLength ?? -1)
/// }
/// ```
/// ``MediaResource/storedInMemory(fields:)`` never waits, ``MediaResource/stored(fields:)`` also consults the index,
/// and ``MediaResource/loadStored(fields:)`` loads the response from there.
public struct StoredContent: Sendable {
    /// The metadata of the representation.
    public let information: ContentInformation
    /// The stored bytes.
    public let ranges: ByteRangeSet
    /// What serves its bytes; `nil` for a response that is only in the index.
    private let generation: Generation?

    /// The content of a response in memory.
    init(_ generation: Generation) {
        (information, ranges) = generation.content
        self.generation = generation
    }

    /// The content of a response that the index has, and that was not loaded.
    init(_ recorded: RecordedGeneration) {
        information = ContentInformation(recorded.record)
        ranges = ChunkLedger(blocks: recorded.chunks).ranges
        generation = nil
    }

    /// Whether every byte is stored.
    public var isComplete: Bool { information.completeLength.map { ranges.contains(0..<$0) } ?? false }

    /// Whether it may answer a request with these directives (RFC 9111 §5.2.1) without asking the origin; looks at the
    /// response as it is now.
    ///
    /// False for a response that was found in the index only.
    public func isUsable(for directives: CacheControl = CacheControl()) -> Bool {
        guard let generation else { return false }
        return !generation.isFrozen && generation.reuse(for: directives) == .serve
    }

    /// All of `range` in one region, if it is stored, verified, and usable without asking the origin.
    ///
    /// Never waits. `nil` also for a range that is empty, negative or outside the representation, in an encrypted
    /// cache, for a response that was found in the index only, and once another one has replaced it. `directives` are
    /// those of a client's request, as in ``MediaResource/read(_:fields:directives:demand:onInterim:)``. Not counted in
    /// the statistics.
    public func region(_ range: RangeSpec? = nil, for directives: CacheControl? = nil) -> StoredRegion? {
        guard let generation,
            let hit = generation.engine.liveResource(generation.key)?.hit(range, atMost: .max, for: directives),
            hit.information.generation == information.generation
        else { return nil }
        return hit.region
    }

    /// The data file, if every byte is on disk and the cache is not encrypted.
    var file: URL? {
        guard let generation, !generation.bytes.isSealed, generation.isStored(nil) else { return nil }
        return URL(fileURLWithPath: generation.bytes.file.path)
    }
}
