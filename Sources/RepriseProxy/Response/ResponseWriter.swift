import NIOCore
import Reprise

/// Writes one response to a client: a head, then pieces, each once the kernel has accepted the previous one.
///
/// At most one piece is between a read and the socket, so a slow client slows down its read, and that slows down its
/// fetch.
struct ResponseWriter: Sendable {
    let service: ProxyService
    let channel: any Channel
    let interim: InterimGate
    let regionOnItsWay: RegionOnItsWay
    let meter: AnswerMeter
    /// Whose rate holds; `nil` without a token.
    let holder: TokenHolder?
    /// The place that is left before the end of the answer is written; `nil` where places are not limited.
    let place: AnswerPlace?

    /// `read`, whose bytes count as served with this response.
    func measured(_ read: MediaRead) -> MediaRead {
        read.whenEnded { [meter] served, first in meter.note(served, first: first) }
        return read
    }

    /// Writes a response that is complete in `buffer`.
    func write(_ buffer: ByteBuffer) async throws {
        interim.close()
        place?.giveBack()
        let count = meter.begin(buffer)
        try await channel.writeAndFlush(IOData.byteBuffer(buffer)).get()
        meter.passed(count)
    }

    /// Writes `head`, then the pieces returned by `next` until it returns `nil`.
    ///
    /// `head` waits for the first piece, so that both are sent in one write. `count` is the number of bytes, where
    /// `head` does not tell it.
    func stream(
        head: ByteBuffer, isChunked: Bool = false, count: Int64? = nil, next: () async throws -> MediaPiece?
    ) async throws {
        interim.close()
        var (pending, unsent) = (head, ByteBuffer?.some(head))
        let total = place == nil || isChunked ? nil : count ?? SentHead.contentLength(head)
        var cutter = PieceCutter(atMost: rate.map(TokenPace.largestPiece(at:)), upToEndOf: total)
        while let piece = try await paced({ try await cutter.next(next) }) {
            if cutter.isAtEnd { place?.giveBack() }
            // Of several ranges, a part has a head that belongs to the body.
            let count = unsent.take().map(meter.begin) ?? 0
            if isChunked { pending.writeString("\(String(piece.count, radix: 16))\r\n") }
            if pending.readableBytes > 0 { channel.write(IOData.byteBuffer(pending), promise: nil) }
            pending = ByteBuffer()
            switch piece {
            case .stored(let region): try await write(region, isChunked: isChunked)
            case .memory(let chunk):
                try await write(.byteBuffer(chunk.withUnsafeBytes { ByteBuffer(bytes: $0) }), isChunked: isChunked)
            }
            meter.passed(count + piece.count)
        }
        let count = unsent.take().map(meter.begin) ?? 0
        if isChunked { pending.writeStaticString("0\r\n\r\n") }
        // Nothing else of an answer comes: a head without a body, or the last chunk.
        if pending.readableBytes > 0 { place?.giveBack() }
        if pending.readableBytes > 0 { try await channel.writeAndFlush(IOData.byteBuffer(pending)).get() }
        meter.passed(count)
    }

    /// Bytes per second that the token allows; `nil` for as fast as it goes.
    private var rate: Int64? { holder?.token.rate }

    /// The next piece, once the rate of the token allows it.
    private func paced(_ next: () async throws -> MediaPiece?) async throws -> MediaPiece? {
        guard let holder, let rate else { return try await next() }
        return try await holder.pace.piece(at: rate, by: service.configuration.clock, next)
    }

    /// Returns when the kernel has accepted the region; until then its bytes are protected from eviction.
    private func write(_ region: StoredRegion, isChunked: Bool) async throws {
        guard service.configuration.usesSendfile else { return try await writeRead(region, isChunked: isChunked) }
        // The event loop, which calls `sendfile`, must not wait for the disk.
        if !region.isResident { await service.warm(region) }
        let file = RegionFile(region)
        regionOnItsWay.set(region)
        defer { regionOnItsWay.set(nil) }
        do {
            try await write(.fileRegion(file.region), isChunked: isChunked)
        } catch {
            if error.isOfDisk { region.reportUnreadable() }
            throw error
        }
        withExtendedLifetime(file) {}
    }

    /// Reads the region and writes it piece by piece.
    private func writeRead(_ region: StoredRegion, isChunked: Bool) async throws {
        for piece in region.pieces(atMost: HitAnswer.readRegion) {
            let isLast = piece.range.upperBound == region.range.upperBound
            try await write(.byteBuffer(service.read(piece)), isChunked: isChunked && isLast)
        }
    }

    private func write(_ body: IOData, isChunked: Bool) async throws {
        guard isChunked else { return try await channel.writeAndFlush(body).get() }
        channel.write(body, promise: nil)
        try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: "\r\n"))).get()
    }
}

/// Cuts the pieces of a read where an answer needs smaller ones.
struct PieceCutter {
    /// Largest piece of bytes in memory, each of which is copied for the socket.
    private static let largestCopy = 64 << 10

    private let most: Int
    /// Bytes up to the end of the answer; `nil` where it does not matter when that is reached.
    private var left: Int64?
    /// What is left of the last piece.
    private var rest: MediaPiece?

    /// Cuts pieces into such of at most `most` bytes; with `count`, the number of all bytes, the last byte is a piece
    /// of its own.
    init(atMost most: Int?, upToEndOf count: Int64? = nil) { (self.most, left) = (most ?? .max, count) }

    /// Whether the last piece was the end of the answer.
    var isAtEnd: Bool { left == 0 }

    /// The next piece, of those that `pull` returns.
    mutating func next(_ pull: () async throws -> MediaPiece?) async throws -> MediaPiece? {
        guard let piece = if let rest { rest } else { try await pull() } else { return nil }
        rest = nil
        let isCopied = if case .memory = piece { true } else { false }
        var count = min(piece.count, isCopied ? min(most, Self.largestCopy) : most)
        if let left, left > 1, Int64(count) >= left { count = Int(left) - 1 }
        left = left.map { max(0, $0 - Int64(count)) }
        guard count < piece.count else { return piece }
        let (first, second) = piece.split(at: count)
        rest = second
        return first
    }
}

extension ProxyService {
    /// The bytes of `region`, read on a thread that may block.
    ///
    /// Throws as ``StoredRegion/bytes()`` does.
    func read(_ region: StoredRegion) async throws -> ByteBuffer {
        try await DiskQueue.shared.run {
            var buffer = ByteBuffer()
            buffer.reserveCapacity(region.count)
            try buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: region.count) { room in
                try region.read(into: UnsafeMutableRawBufferPointer(rebasing: room[..<region.count]))
                return region.count
            }
            return buffer
        }
    }
}
