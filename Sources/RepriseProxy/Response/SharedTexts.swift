import HTTPTypes
import Primitives
import Reprise

/// Bytes in memory that several answers send, claimed from a budget until the last of them has ended.
final class HeldBytes: Sendable {
    let bytes: [UInt8]
    let checksum: UInt64
    private let budget: MemoryBudget?

    /// Takes over the claim to `bytes`; without a budget there is none.
    init(_ bytes: [UInt8], claimedFrom budget: MemoryBudget? = nil) {
        (self.bytes, self.budget) = (bytes, budget)
        checksum = bytes.withUnsafeBytes { XXHash64.checksum(of: $0) }
    }

    deinit { budget?.release(bytes.count) }
}

/// A part of held bytes, without copying.
struct HeldSlice: ByteChunk {
    private let held: HeldBytes
    private let range: Range<Int>

    init(of held: HeldBytes, _ range: Range<Int64>) {
        (self.held, self.range) = (held, Int(range.lowerBound)..<Int(range.upperBound))
    }

    var count: Int { range.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try held.bytes.withUnsafeBytes { try body(UnsafeRawBufferPointer(rebasing: $0[range])) }
    }
}

/// The bodies that are gathered in memory to be edited, and the texts that are sent in their place: one of each,
/// however many clients want it, under one budget for all.
final class SharedTexts: Sendable {
    /// What makes two gatherings the same.
    struct BodyKey: Hashable, Sendable {
        private let resource: CacheKey
        private let generation: String
        /// Whether the origin must not be asked for what is missing.
        private let isOnlyIfCached: Bool

        /// `nil` for a response that is not stored, which may be for one client only.
        init?(_ information: ContentInformation, of context: AnswerContext) {
            guard !information.generation.isEmpty else { return nil }
            (resource, generation) = (context.resource.key, information.generation)
            isOnlyIfCached = context.request.directives.onlyIfCached
        }
    }

    /// What makes two texts the same that are made at the same time.
    struct TextKey: Hashable, Sendable {
        private let body: BodyKey
        private let prefix: String
        private let host: String?
        private let isWithoutOrigin, isHostAway, isForEdge: Bool
        private let requester: Requester?

        init(_ key: BodyKey, _ body: GatheredBody, of context: AnswerContext) {
            self.body = key
            (prefix, host) = (body.prefix, body.host)
            (isWithoutOrigin, isHostAway) = (body.isWithoutOrigin, body.isHostAway)
            isForEdge = context.head.audience == .edge
            requester = body.requester
        }
    }

    /// What is sent for a body.
    final class Edition: Sendable {
        /// A text in its place, or the body itself.
        let bytes: HeldBytes
        let isEdited: Bool
        /// Length of the body.
        let bodyCount: Int
        /// Why the body is sent, in a few words, if it is one that is edited.
        let reason: String?

        init(_ text: HeldBytes?, inPlaceOf body: HeldBytes, reason: String? = nil) {
            (bytes, isEdited, bodyCount) = (text ?? body, text != nil, body.bytes.count)
            self.reason = reason
        }
    }

    /// The budget does not allow another body or text.
    struct Overfull: Error {}

    let budget: MemoryBudget
    private let bodies = SharedWork<BodyKey, HeldBytes>()
    private let editions = SharedWork<TextKey, Edition>()
    /// By checksum.
    private let texts = WeakTable<UInt64, HeldBytes>()

    /// Number of requests that wait for a text that is being made.
    var waiting: Int { editions.waiting }

    init(maximumBytes: Int) { budget = MemoryBudget(limit: maximumBytes) }

    /// The text that `edit` makes, and the body that `gather` reads for it; `nil` if that is too large.
    ///
    /// Those who want the same at the same time share one run, which ends when the last of them has left. `join` is
    /// called if another one's run is shared.
    func edition(
        _ key: BodyKey?, _ unread: GatheredBody, of context: AnswerContext, join: @escaping @Sendable () -> Void,
        gather: @escaping @Sendable () async throws -> HeldBytes?,
        edit: @escaping @Sendable (GatheredBody) async throws -> [UInt8]?
    ) async throws -> Edition? {
        guard let key else { return try await Self.make(unread, in: self, body: gather, edit: edit) }
        return try await editions.value(for: TextKey(key, unread, of: context), join: join) { [self] in
            try await Self.make(
                unread, in: self, body: { try await self.bodies.value(for: key, join: join, gather) }, edit: edit)
        }
    }

    private static func make(
        _ unread: GatheredBody, in texts: SharedTexts, body: () async throws -> HeldBytes?,
        edit: (GatheredBody) async throws -> [UInt8]?
    ) async throws -> Edition? {
        guard let body = try await body() else { return nil }
        var gathered = unread
        gathered.bytes = body.bytes
        do {
            return Edition(try await edit(gathered).map(texts.held), inPlaceOf: body)
        } catch let error as UneditedBody {
            return Edition(nil, inPlaceOf: body, reason: error.reason)
        }
    }

    /// `bytes` as they are held for all answers that send the same.
    func held(_ bytes: [UInt8]) throws -> HeldBytes {
        let checksum = bytes.withUnsafeBytes { XXHash64.checksum(of: $0) }
        return try texts.value(for: checksum, where: { $0.bytes == bytes }) {
            guard budget.claim(bytes.count, beside: 0) else { throw Overfull() }
            return HeldBytes(bytes, claimedFrom: budget)
        }
    }

    /// All bytes of `read`; `nil` if they are more than `most`, all of which it still delivers then.
    ///
    /// If this throws, the read has ended.
    func gather(_ read: MediaRead, atMost most: Int) async throws -> HeldBytes? {
        do {
            let (held, isWhole) = try await gather(atMost: most, expecting: read.count) { try await read.nextBytes() }
            if isWhole { return held }
            read.putBack([held.bytes], holding: held)
            return nil
        } catch {
            read.cancel()
            throw error
        }
    }

    /// The bytes that `next` brings, about `expected` of them; not all if they are more than `most`.
    func gather(
        atMost most: Int, expecting expected: Int64?, _ next: () async throws -> (any ByteChunk)?
    ) async throws -> (held: HeldBytes, isWhole: Bool) {
        var bytes: [UInt8] = []
        if let expected { bytes.reserveCapacity(min(most, Int(clamping: expected))) }
        do {
            while let piece = try await next() {
                guard budget.claim(piece.count, beside: bytes.count) else { throw Overfull() }
                piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
                if bytes.count > most { return (HeldBytes(bytes, claimedFrom: budget), false) }
            }
        } catch {
            budget.release(bytes.count)
            throw error
        }
        return (HeldBytes(bytes, claimedFrom: budget), true)
    }
}
