import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a GET from stored and verified bytes: made on the event loop, without a task.
///
/// A small one leaves in one write. A larger one leaves region by region, of a few megabytes: each is looked up, leased and
/// counted by itself, so that eviction takes what was sent, a file that was cut off shows, and a client that leaves early has
/// not been counted as served.
struct HitAnswer {
    /// Ranges up to this size are copied behind their head and leave in one write; larger ones go out with `sendfile`.
    private static let copiedBytes: Int64 = 32 << 10
    /// Bytes of the first region: few, because many clients leave early.
    private static let firstRegion: Int64 = 512 << 10
    private static let largestRegion: Int64 = 4 << 20

    let request: MediaRequest
    let known: KnownResource
    /// The head, and the body behind it if that is small.
    let beginning: ByteBuffer
    let status: Int
    /// The beginning of the body, if it is not in ``beginning``.
    let region: StoredRegion?
    /// What the head promised.
    let generation: String
    let range: Range<Int64>

    /// `nil` if more than stored bytes in the system's memory is needed, or nothing may be answered without asking the origin.
    init?(_ request: MediaRequest, _ known: KnownResource, now: Double) {
        guard request.head.method == .get, request.ranges.count < 2 else { return nil }
        var judged: ContentInformation?
        if request.isConditional {
            guard let usable = known.resource.usableInformation(request.directives) else { return nil }
            judged = usable
        }
        guard case .send(let spec) = RequestPlan(request, for: judged),
            let hit = known.resource.storedHit(
                spec, atMost: Self.firstRegion, directives: request.statedDirectives)
        else { return nil }
        self.request = request
        self.known = known
        range = hit.range
        generation = hit.information.generation
        let content: MediaResponse.Content =
            if spec != nil, let length = hit.information.completeLength {
                .part(range, of: length)
            } else {
                .whole(length: range.byteCount)
            }
        status = spec == nil ? 200 : 206
        let response = MediaResponse(
            content, to: request.head, hit.information,
            lines: known.lines(of: hit.information, for: request.head.audience),
            now: now)
        guard range.byteCount <= Self.copiedBytes else {
            beginning = response.head()
            region = hit.region
            return
        }
        var buffer = response.head(roomFor: Int(range.byteCount))
        // What the disk does not give, or not at once, an answer with a task brings.
        guard (try? buffer.writeResidentBytes(of: hit.region)) == true else { return nil }
        beginning = buffer
        region = nil
    }

    /// The region that follows `region`: twice as long, up to 4 MiB; `nil` if it was evicted or the disk does not give it.
    func following(_ region: StoredRegion) -> StoredRegion? {
        region.following(min(2 * Int64(region.count), Self.largestRegion), upTo: range.upperBound)
    }
}

extension Range<Int64> {
    var byteCount: Int64 { upperBound - lowerBound }
}

extension ByteBuffer {
    /// Reads the bytes of `region` into the buffer if no disk is needed for that; false otherwise.
    fileprivate mutating func writeResidentBytes(of region: StoredRegion) throws -> Bool {
        try writeWithUnsafeMutableBytes(minimumWritableBytes: region.count) { room in
            try region.readResident(into: UnsafeMutableRawBufferPointer(rebasing: room[..<region.count]))
                ? region.count : 0
        } == region.count
    }
}
