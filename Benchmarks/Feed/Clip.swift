import RepriseTesting

/// A clip of a feed: a WAVE file, so that its seconds are bytes exactly.
struct Clip: Sendable {
    let path: String
    /// Bytes per second of media.
    let rate: Int64
    /// In seconds of media.
    let duration: Double
    /// How long the person stays, in seconds of media; at most its duration.
    let watched: Double

    static let headerLength: Int64 = 44

    /// The bytes that the first seconds need.
    func end(of seconds: Double) -> Int64 { Self.headerLength + Int64(min(seconds, duration) * Double(rate)) }

    var length: Int64 { end(of: duration) }

    var content: [UInt8] {
        func number(_ value: Int64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * Int64($0))) }
        }
        let media = length - Self.headerLength
        var bytes = Array("RIFF".utf8) + number(media + 36, 4) + Array("WAVEfmt ".utf8) + number(16, 4)
        bytes += number(1, 2) + number(1, 2) + number(rate, 4) + number(rate, 4) + number(1, 2) + number(8, 2)
        return bytes + Array("data".utf8) + number(media, 4) + TestPattern.bytes(in: 0..<media, seed: UInt64(rate))
    }

    /// A feed and the swipes of a person: four of ten clips are left within two seconds, four within ten, and two are
    /// watched to their end. Clips have 10 to 30 seconds, of 50 to 400 kB each.
    static func feed(_ count: Int, seed: UInt64) -> [Clip] {
        var random = SeededGenerator(seed: seed)
        return (0..<count).map { number in
            let duration = Double.random(in: 10...30, using: &random).rounded()
            let watched =
                switch Int.random(in: 0..<10, using: &random) {
                case 0..<4: Double.random(in: 0.5...2, using: &random)
                case 4..<8: Double.random(in: 3...10, using: &random)
                default: duration
                }
            let rate = [50_000, 150_000, 400_000].randomElement(using: &random) ?? 150_000
            return Clip(path: "/\(number).wav", rate: Int64(rate), duration: duration, watched: min(watched, duration))
        }
    }
}
