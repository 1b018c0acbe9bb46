internal import ByteRanges

/// The running counts of one path.
struct PathTally: Sendable {
    /// The current representation at the path.
    var representation = 0
    var bodyBytesSent: Int64 = 0
    var bytesSentMoreThanOnce: Int64 = 0
    /// By representation: responses that began before a resource was replaced still send the old one.
    var distinct: [Int: ByteRangeSet] = [:]

    mutating func count(_ part: BodyPart, of representation: Int) {
        bodyBytesSent += part.length
        guard case .content(let range) = part else { return }
        var set = distinct[representation] ?? ByteRangeSet()
        let before = set.byteCount
        set.insert(range)
        bytesSentMoreThanOnce += part.length - (set.byteCount - before)
        distinct[representation] = set
    }
}
