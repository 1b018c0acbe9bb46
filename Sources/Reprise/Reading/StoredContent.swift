public import ByteRanges
import Foundation
public import HTTPSemantics

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
    private let generation: LiveGeneration?

    /// The content of a response in memory.
    init(_ generation: LiveGeneration) {
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
