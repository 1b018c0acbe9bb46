package import ByteRanges
import Playlists
package import Reprise

/// One track of a stream: a variant, a rendition or a representation, and how much of it is stored.
package struct StreamTrack: Sendable {
    /// What a track carries.
    package enum Kind: String, Sendable {
        /// Picture, in HLS with sound as a rule.
        case video
        case audio
        case subtitles
        /// I-frames or thumbnails.
        case images
        /// A playlist that is no part of a multivariant one, or content that no playlist describes.
        case media
    }

    /// Longest time that is counted, in milliseconds: no computation with it overflows.
    static let longest: Int64 = 1 << 52

    /// What it carries.
    package internal(set) var kind: Kind
    /// The URL of its playlist; `nil` in DASH, where the description has everything.
    package var url: String?
    /// Name for people, such as "English".
    package var name: String?
    /// A tag of BCP 47.
    package var language: String?
    /// Peak bits per second.
    package var bandwidth: Int64?
    /// In pixels.
    package var width: Int64?
    /// In pixels.
    package var height: Int64?
    /// Codecs, as the playlist names them.
    package var codecs: String?
    /// Whether its segments are known: its playlist is stored and can be read.
    package internal(set) var isListed = false
    /// Number of segments, as far as they are listed.
    package internal(set) var segmentCount = 0
    /// Number of segments that are stored as a whole.
    package internal(set) var storedSegments = 0
    /// Number of bytes of its segments that are stored.
    package internal(set) var storedBytes: Int64 = 0
    /// Length of all segments, in milliseconds.
    package internal(set) var duration: Int64 = 0
    /// Which of them are stored, in milliseconds; a segment that is stored in part has as much of its time.
    package internal(set) var stored = ByteRangeSet()
    /// How much of the stored time does not play, in milliseconds, because keys or initialization are not stored.
    package internal(set) var unplayable: Int64 = 0
    /// Whether stored segments are encrypted with keys that are not stored.
    package internal(set) var lacksKeys = false

    /// The share, from 0 to 1, that is stored with its keys and initialization; `nil` if nothing is known of its
    /// length.
    package var storedShare: Double? {
        guard isListed, duration > 0 else { return nil }
        return Double(stored.reduce(-unplayable) { $0 + $1.upperBound - $1.lowerBound }) / Double(duration)
    }

    package init(_ kind: Kind) { self.kind = kind }
}

extension StreamTrack {
    /// Appends the same track's content in the next period.
    mutating func append(_ next: StreamTrack) {
        let start = duration
        isListed = isListed || next.isListed
        segmentCount += next.segmentCount
        storedSegments += next.storedSegments
        storedBytes += next.storedBytes
        unplayable += next.unplayable
        duration = min(start + next.duration, StreamTrack.longest)
        for span in next.stored {
            let (from, to) = (start + span.lowerBound, min(start + span.upperBound, duration))
            if from < to { stored.insert(from..<to) }
        }
    }

    /// Adopts the kind, name and language that the playlist declares elsewhere.
    mutating func become(_ other: StreamTrack) {
        kind = other.kind
        name = other.name ?? name
        language = other.language ?? language
    }

    init(_ representation: Representation, of set: AdaptationSet) {
        let attributes = representation.attributes
        let kind: Kind =
            switch set.medium {
            case "video": .video
            case "audio": .audio
            case "text", "application": .subtitles
            case "image": .images
            default: .media
            }
        self.init(kind)
        name = representation.id.isEmpty ? nil : representation.id
        language = set.language
        bandwidth = representation.bandwidth
        (width, height) = (attributes.width, attributes.height)
        codecs = attributes.codecs
    }
}

extension StreamTrack.Kind {
    init(_ kind: Rendition.Kind) {
        self =
            switch kind {
            case .audio: .audio
            case .video: .video
            case .subtitles, .closedCaptions: .subtitles
            case .other: .media
            }
    }
}

/// The streams of a cache, and which files belong to them.
///
/// A playlist that another one names is no stream of its own.
package struct StreamTable: Sendable {
    private var streams: [CacheKey: StreamOutline] = [:]
    private var members: Set<CacheKey> = []

    /// A table without streams.
    package init() {}

    /// The streams whose playlists are among `files`.
    package init(_ files: StoredFiles) {
        let outlines = files.entries.compactMap { StreamOutline($0, in: files) }
        for outline in outlines { members.formUnion(outline.members.keys.filter { $0 != outline.entry.key }) }
        for outline in outlines where !members.contains(outline.entry.key) { streams[outline.entry.key] = outline }
        // Playlists that name each other in a circle stay on their own.
        members = streams.values.reduce(into: []) { $0.formUnion($1.members.keys) }
    }

    /// The stream whose outermost playlist is the entry under `key`.
    package subscript(key: CacheKey) -> StreamOutline? { streams[key] }

    /// Whether the entry under `key` belongs to a stream.
    package func contains(_ key: CacheKey) -> Bool { members.contains(key) }
}
