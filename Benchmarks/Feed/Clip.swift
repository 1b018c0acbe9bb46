import Foundation
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

    /// A feed and the swipes of a person, as `swipes.csv` has them: for each clip its seconds, its bytes a second, and
    /// the seconds that it is watched.
    static func feed() throws -> [Clip] {
        let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("swipes.csv")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").dropFirst()
        return try lines.enumerated().map { number, line in
            let fields = line.split(separator: ",")
            guard fields.count == 3, let duration = Double(fields[0]), let rate = Int64(fields[1]),
                let watched = Double(fields[2])
            else { throw CocoaError(.fileReadCorruptFile) }
            return Clip(path: "/\(number).wav", rate: rate, duration: duration, watched: min(watched, duration))
        }
    }
}
