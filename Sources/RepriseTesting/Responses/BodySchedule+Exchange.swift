internal import HTTPTypes

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
