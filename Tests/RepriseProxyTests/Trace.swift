import Foundation

/// The requests of one real player while it played one file, as recorded.
struct Trace: Decodable, Sendable, CustomStringConvertible {
    struct Request: Decodable, Sendable {
        let t: Double
        let path: String
        let range: String?
        let status: Int
        let bytes_taken: Int64
        let aborted: Bool
        let dur: Double

        var start: Int64 {
            guard let range, range.hasPrefix("bytes=") else { return 0 }
            return Int64(range.dropFirst(6).prefix { $0 != "-" }) ?? 0
        }
        /// The bytes that the player read, as far as it had requested them; some origins answered a range with the
        /// whole file.
        var taken: Range<Int64> {
            guard let last = range.flatMap({ Int64($0.split(separator: "-").last ?? "") }), last >= start else {
                return start..<start + bytes_taken
            }
            return start..<min(start + bytes_taken, last + 1)
        }
        /// Whether the player read less than it had requested, of a file of this length.
        func leavesEarly(_ length: Int64) -> Bool {
            let asked = range?.split(separator: "-").last.flatMap { Int64($0) }.map { $0 + 1 } ?? length
            return aborted || taken.upperBound < min(asked, length)
        }
        var isMedia: Bool { status == 200 || status == 206 }
    }

    let player: String
    let file: String
    let requests: [Request]

    var description: String { "\(player) \(file)" }

    /// The traces of this repository, and those in the files named by `REPRISE_TRACES`, separated by colons; only those
    /// whose name contains `REPRISE_TRACE`, if that is set.
    static func all() throws -> [Trace] {
        let fixtures = try ["chromium", "ffmpeg", "mpv"].map { player in
            guard
                let url = Bundle.module.url(
                    forResource: "traces-\(player)", withExtension: "jsonl", subdirectory: "Fixtures")
            else { throw CocoaError(.fileNoSuchFile) }
            return url
        }
        let more = (ProcessInfo.processInfo.environment["REPRISE_TRACES"] ?? "").split(separator: ":")
            .map { URL(fileURLWithPath: String($0)) }
        let name = ProcessInfo.processInfo.environment["REPRISE_TRACE"] ?? ""
        return try (fixtures + more).flatMap { url in
            try String(contentsOf: url, encoding: .utf8).split(separator: "\n")
                .map { try JSONDecoder().decode(Trace.self, from: Data($0.utf8)) }
                .filter { name.isEmpty || $0.description.contains(name) }
        }
    }

    /// Length of each file: the end of what was read to its end, or a megabyte more than what was read of it.
    var lengths: [String: Int64] {
        Dictionary(grouping: requests.filter(\.isMedia), by: \.path).mapValues { requests in
            let end = requests.map(\.taken.upperBound).max() ?? 0
            let isWhole = requests.contains { $0.taken.upperBound == end && !$0.aborted }
            return isWhole ? end : end + (1 << 20)
        }
    }

    /// Openings and departures, in the order in which they happened.
    var steps: [(request: Int, isOpening: Bool)] {
        requests.indices.filter { requests[$0].isMedia }
            .flatMap { [(requests[$0].t, $0, true), (requests[$0].t + requests[$0].dur, $0, false)] }
            .sorted { ($0.0, $0.2 ? 1 : 0) < ($1.0, $1.2 ? 1 : 0) }
            .map { (request: $0.1, isOpening: $0.2) }
    }
}
