import Foundation

/// What a player reads of a live media playlist, without the parser of the package.
struct LiveList: Sendable, Equatable {
    /// A part of a segment, by its place.
    struct Part: Hashable, Sendable {
        let segment: Int
        let part: Int
    }

    private(set) var targetDuration = 0
    private(set) var sequence = 0
    /// Links of the segments, from ``sequence`` on.
    private(set) var segments: [String] = []
    private(set) var parts: [Part: String] = [:]
    private(set) var hint: String?
    private(set) var canBlockReload = false
    /// Older segments may be left out of a delta update; zero if the server makes none.
    private(set) var skipBoundary = Duration.zero
    /// Segments that a delta update left out, which come from the list before it.
    private(set) var skipped = 0
    /// The part that comes after all of the list.
    private(set) var next = Part(segment: 0, part: 0)

    /// Reads a list; `base` is the one before it, from which come the segments that a delta update leaves out.
    ///
    /// What the base does not have either is the empty text.
    init(_ text: String, on base: LiveList? = nil) {
        var part = 0
        for line in text.split(separator: "\n").map(String.init) {
            if let value = line.value(of: "#EXT-X-TARGETDURATION:") {
                targetDuration = Int(value) ?? 0
            } else if let value = line.value(of: "#EXT-X-MEDIA-SEQUENCE:") {
                sequence = Int(value) ?? 0
            } else if line.hasPrefix("#EXT-X-SERVER-CONTROL:") {
                canBlockReload = line.contains("CAN-BLOCK-RELOAD=YES")
                skipBoundary = .seconds(line.number(of: "CAN-SKIP-UNTIL") ?? 0)
            } else if line.hasPrefix("#EXT-X-SKIP:") {
                skipped = line.number(of: "SKIPPED-SEGMENTS") ?? 0
                segments = (sequence..<sequence + skipped).map { base?.segment($0) ?? "" }
            } else if line.hasPrefix("#EXT-X-PART:") {
                parts[Part(segment: sequence + segments.count, part: part)] = line.uri
                part += 1
            } else if line.hasPrefix("#EXT-X-PRELOAD-HINT:") {
                hint = line.uri
            } else if !line.hasPrefix("#") {
                segments.append(line)
                part = 0
            }
        }
        next = Part(segment: sequence + segments.count, part: part)
    }

    /// The link of a segment that is listed as a whole.
    func segment(_ number: Int) -> String? {
        segments.indices.contains(number - sequence) ? segments[number - sequence] : nil
    }
}

extension LiveList.Part: Comparable {
    static func < (first: Self, second: Self) -> Bool {
        (first.segment, first.part) < (second.segment, second.part)
    }
}

extension String {
    fileprivate func value(of tag: String) -> String? { hasPrefix(tag) ? String(dropFirst(tag.count)) : nil }

    fileprivate func number(of attribute: String) -> Int? {
        guard let start = range(of: attribute + "=") else { return nil }
        return Int(self[start.upperBound...].prefix { $0.isNumber })
    }

    fileprivate var uri: String? {
        guard let start = range(of: "URI=\"") else { return nil }
        return String(self[start.upperBound...].prefix { $0 != "\"" })
    }
}
