/// An HLS stream at the origin of a scenario.
struct ScriptStream: Sendable {
    /// What a stream consists of.
    enum Kind: Sendable {
        /// One that has ended: a number of segments of the same length, and maps.
        case film(segments: Int, segmentLength: Int64, hasMaps: Bool)
        /// One that grows by the clock, of whole segments or of parts.
        case live(hasParts: Bool, hasDeltas: Bool)
    }

    let kind: Kind

    init(_ value: ScriptValue, _ place: String) throws {
        var fields = try ScriptFields(value, place)
        switch try fields.require(fields.text("kind"), "kind") {
        case "vod":
            let segments = try fields.require(fields.int("segments"), "segments")
            let length = try fields.int("segmentLength") ?? 20_000
            guard (1...10_000).contains(segments), (1...10_000_000).contains(length) else {
                throw ScriptFormatError("\(place): 1 to 10000 segments of 1 to 10000000 bytes are possible")
            }
            kind = .film(
                segments: Int(segments), segmentLength: length, hasMaps: try fields.bool("maps") ?? false)
        case "live":
            kind = .live(
                hasParts: try fields.bool("parts") ?? false, hasDeltas: try fields.bool("deltas") ?? false)
        case let kind: throw ScriptFormatError("\(place): a stream is \"vod\" or \"live\", not \(kind)")
        }
        try fields.finish()
    }
}
