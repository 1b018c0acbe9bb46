import HTTPTypes

/// The remaining body of a response, cut into slices on demand.
///
/// Pure: it neither reads content nor knows the time.
struct BodySchedule: Sendable {
    /// Where a body is broken off.
    struct Cut: Sendable, Equatable {
        var after: Int64
        var isReset: Bool
    }

    enum Step: Sendable, Equatable {
        /// Send this, then ask again.
        case send(BodyPart)
        /// The personality's stall is reached.
        case stall
        /// Everything was sent.
        case end
        /// The body is broken off here.
        case cut(isReset: Bool)
    }

    /// Metadata blocks between the bytes of a stream.
    struct Icy: Sendable {
        let interval: Int64
        let block: [UInt8]
        var sinceBlock: Int64 = 0
    }

    private let parts: [BodyPart]
    private let cut: Cut?
    private var stallAfter: Int64?
    private var icy: Icy?
    private var index = 0
    private var offset: Int64 = 0
    /// Number of bytes of the body produced so far.
    private(set) var produced: Int64 = 0

    init(_ parts: [BodyPart], cut: Cut? = nil, stallAfter: Int64? = nil, icy: Icy? = nil) {
        self.parts = parts.filter { $0.length > 0 }
        self.cut = cut
        self.stallAfter = stallAfter
        self.icy = icy
    }

    /// The offset in the representation of the next byte, if the next byte belongs to the representation.
    var contentPosition: Int64? {
        guard index < parts.count, case .content(let range) = parts[index] else { return nil }
        return range.lowerBound + offset
    }

    /// Whether nothing is left to send.
    var isAtEnd: Bool { index >= parts.count }

    /// Passes the stall; the next step is the one after it.
    mutating func passStall() {
        stallAfter = nil
    }

    /// Returns what to do next.
    ///
    /// - Parameters:
    ///   - limit: Maximum number of bytes of a slice, at least 1.
    ///   - hold: An offset in the representation above ``contentPosition`` that the slice must not pass.
    /// - Returns: A step; only ``Step/send(_:)`` moves the schedule on.
    mutating func next(limit: Int64, hold: Int64? = nil) -> Step {
        guard !isAtEnd else { return .end }
        if let cut, produced >= cut.after { return .cut(isReset: cut.isReset) }
        if let stallAfter, produced >= stallAfter { return .stall }
        if let block = nextMetadata() { return .send(block) }

        var most = limit
        if let cut { most = min(most, cut.after - produced) }
        if let stallAfter { most = min(most, stallAfter - produced) }
        if let icy { most = min(most, icy.interval - icy.sinceBlock) }
        if let hold, let contentPosition { most = min(most, hold - contentPosition) }
        let slice = parts[index].slice(from: offset, limit: most)
        advance(by: slice.length)
        return .send(slice)
    }

    private mutating func nextMetadata() -> BodyPart? {
        guard let icy, icy.sinceBlock == icy.interval else { return nil }
        self.icy?.sinceBlock = 0
        produced += Int64(icy.block.count)
        return .literal(icy.block)
    }

    private mutating func advance(by count: Int64) {
        produced += count
        offset += count
        icy?.sinceBlock += count
        guard offset == parts[index].length else { return }
        index += 1
        offset = 0
    }
}

extension BodySchedule {
    /// The schedule of a response's body.
    init(_ exchange: ResponseSender.Exchange) {
        let personality = exchange.personality
        var cut: Cut?
        if personality.resetBeforeBody {
            cut = Cut(after: 0, isReset: true)
        } else if let after = personality.resetAfter {
            cut = Cut(after: after, isReset: true)
        } else if let after = personality.truncateAfter {
            cut = Cut(after: after, isReset: false)
        }
        self.init(exchange.answer.body, cut: cut, stallAfter: personality.stallAfter, icy: Icy(for: exchange))
    }
}

extension BodySchedule.Icy {
    /// Metadata, if the personality has it and the client requested it; only 200 responses carry it.
    init?(for exchange: ResponseSender.Exchange) {
        guard exchange.answer.fields[.icyMetadataInterval] != nil, let interval = exchange.personality.icyInterval,
            interval > 0
        else { return nil }
        // A block is a count of 16-byte units, then that many units, padded with zeros.
        let text = Array("StreamTitle='\(exchange.personality.icyTitle)';".utf8.prefix(255 * 16))
        let units = (text.count + 15) / 16
        let padding = [UInt8](repeating: 0, count: units * 16 - text.count)
        self.init(interval: Int64(interval), block: [UInt8(units)] + text + padding)
    }
}
