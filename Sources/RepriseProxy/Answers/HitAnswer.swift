import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a GET from stored and verified bytes, made on the event loop without a task.
///
/// A small answer is sent in one write. A larger one is sent in regions of a few megabytes, each looked up, leased and
/// counted separately. That allows eviction of bytes already sent, detects a truncated file, and does not count bytes
/// as served for a client that leaves early.
struct HitAnswer {
    /// Ranges up to this size are copied behind their head and sent in one write; larger ones are sent with `sendfile`.
    private static let copiedBytes: Int64 = 32 << 10
    /// Size of the first region: small, because many clients leave early.
    private static let firstRegion: Int64 = 512 << 10
    private static let largestRegion: Int64 = 4 << 20
    /// Size of all regions if they are read into memory.
    static let readRegion: Int64 = 256 << 10

    let request: MediaRequest
    let known: KnownResource
    /// The head, followed by the body if that is small.
    let beginning: ByteBuffer
    let status: Int
    /// The first region of the body, if it is not in ``beginning``.
    let region: StoredRegion?
    /// The generation and range that the head announced.
    let generation: String
    let range: Range<Int64>
    private let usesSendfile: Bool

    /// `nil` if the plan needs more than stored bytes in memory, or must not be followed without asking the origin.
    init?(_ request: MediaRequest, to known: KnownResource, by plan: RequestPlan, service: ProxyService) {
        usesSendfile = service.configuration.usesSendfile
        guard case .send(let spec, let judged) = plan,
            let hit = known.hits.hit(
                spec, atMost: usesSendfile ? Self.firstRegion : Self.readRegion, for: request.statedDirectives),
            judged.map({ $0.generation == hit.information.generation }) != false, known.hasRole(hit.information),
            !service.contentFeatures.isMissing(in: hit.information, for: request.head),
            let lines = known.lines(
                of: hit.information, to: request.head, filter: service.filter(for: request.head.audience))
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
            content, to: request.head, information: hit.information, lines: lines, now: service.wallClock())
        guard range.byteCount <= Self.copiedBytes else {
            beginning = response.head()
            region = hit.region
            return
        }
        var buffer = response.head(roomFor: Int(range.byteCount))
        // Bytes that cannot be read, or not without waiting, are sent by an answer with a task.
        guard (try? buffer.writeResidentBytes(of: hit.region)) == true else { return nil }
        beginning = buffer
        region = nil
    }

    /// The region that follows `region`; `nil` if it was evicted or cannot be read.
    ///
    /// For `sendfile` it is twice as long, up to 4 MiB.
    func following(_ region: StoredRegion) -> StoredRegion? {
        let count = usesSendfile ? min(2 * Int64(region.count), Self.largestRegion) : Self.readRegion
        return region.following(count, upTo: range.upperBound)
    }
}

extension Range<Int64> {
    var byteCount: Int64 { upperBound - lowerBound }
}

extension ByteBuffer {
    /// Reads the bytes of `region` into the buffer if that needs no disk access; returns false otherwise.
    mutating func writeResidentBytes(of region: StoredRegion) throws -> Bool {
        try writeWithUnsafeMutableBytes(minimumWritableBytes: region.count) { room in
            try region.readResident(into: UnsafeMutableRawBufferPointer(rebasing: room[..<region.count]))
                ? region.count : 0
        } == region.count
    }
}
