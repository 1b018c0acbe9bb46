import Playlists
import Reprise
import RepriseStreams

/// A stream on the terminal: a line with a picture for each track.
struct StreamPicture {
    private let stream: StreamOutline

    init(_ stream: StreamOutline) { self.stream = stream }

    /// Prints it on standard output.
    func print() throws {
        try Terminal.print("\(stream.entry.url)")
        let count = stream.members.count
        let kind = "\(stream.formatName)\(stream.isLive ? ", live" : "")"
        try Terminal.print(
            "\(kind), \(ByteCount(stream.storedBytes)) in \(count) \(count == 1 ? "file" : "files")"
                + (stream.storedShare.map { ", \(List.percent($0))" } ?? ""))
        let labels = stream.tracks.map(\.label)
        let width = labels.map(\.count).max() ?? 0
        for (track, label) in zip(stream.tracks, labels) {
            let label = label + String(repeating: " ", count: width - label.count)
            guard track.isListed else {
                try Terminal.print("  \(label)  its playlist is not stored")
                continue
            }
            let counts =
                "\(track.storedSegments) of \(track.segmentCount), \(ByteCount(track.storedBytes))"
                + (track.lacksKeys ? ", keys not stored" : "")
            let space = max(10, Terminal.width - width - counts.count - 8)
            let bar = Bar.coverage(track.stored, length: track.duration, width: min(space, 60))
            try Terminal.print("  \(label)  [\(bar)]  \(counts)")
        }
    }
}

extension StreamOutline {
    /// The format's name for people.
    var formatName: String { format == .hls ? "HLS" : "DASH" }
}

extension StreamTrack {
    /// What it is, such as "video 1920x1080 5.2 Mbit/s".
    fileprivate var label: String {
        var words = [kind.rawValue]
        if let width, let height { words.append("\(width)x\(height)") }
        if let language { words.append(language) }
        if let name, name != language { words.append("\"\(String(name.prefix(24)).printable)\"") }
        if let bandwidth { words.append(BitRate(bandwidth).description) }
        return words.joined(separator: " ").printable
    }
}

/// A stream in JSON; sizes in bytes, times in seconds, shares from 0 to 1.
struct StreamReport: Encodable {
    /// A track in JSON.
    struct Track: Encodable {
        let kind: String
        let url: String?
        let name: String?
        let language: String?
        let bandwidth: Int64?
        let width: Int64?
        let height: Int64?
        let codecs: String?
        let listed: Bool
        let segments: Int
        let storedSegments: Int
        let storedBytes: Int64
        let duration: Double
        let storedShare: Double?
    }

    let format: String
    let live: Bool
    let files: Int
    let storedBytes: Int64
    /// That of a variant with the sound that it needs.
    let storedShare: Double?
    let tracks: [Track]

    init(_ stream: StreamOutline) {
        format = stream.formatName
        live = stream.isLive
        files = stream.members.count
        (storedBytes, storedShare) = (stream.storedBytes, stream.storedShare)
        tracks = stream.tracks.map { track in
            Track(
                kind: track.kind.rawValue, url: track.url, name: track.name, language: track.language,
                bandwidth: track.bandwidth, width: track.width, height: track.height, codecs: track.codecs,
                listed: track.isListed, segments: track.segmentCount, storedSegments: track.storedSegments,
                storedBytes: track.storedBytes, duration: Double(track.duration) / 1000,
                storedShare: track.storedShare)
        }
    }
}
