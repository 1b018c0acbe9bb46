import MediaTiming
import Playlists

/// A part in time of a stream whose decoders may be set up again between two: a period of DASH, or of HLS what has one
/// map.
package struct ExportedPeriod: Sendable {
    /// A playlist of this part alone, whose links are those of the export.
    package struct Playlist: Sendable {
        /// Its path in the folder.
        package let path: String
        /// Its text.
        package let bytes: [UInt8]
    }

    /// What it is called in messages: `period 2 (advertisement)`.
    package let name: String
    /// The path of the outermost playlist.
    package let playlistName: String
    /// All its playlists.
    package let playlists: [Playlist]
    /// `nil` if a map that describes them cannot be read, because it is encrypted or damaged.
    private(set) var tracks: [Track]?

    init(name: String, playlistName: String, playlists: [Playlist], tracks: [Track]?) {
        (self.name, self.playlistName, self.playlists, self.tracks) = (name, playlistName, playlists, tracks)
    }

    /// A representation, or a track of a map; each property is `nil` where it is not known.
    struct Track: Sendable {
        let kind: TrackKind
        var language: String?
        var codecs: String?
        var pictureSize: String?
        var samplingRate: String?
        var channels: String?

        /// What nothing is known of.
        static let unknown = Track(kind: .other)
    }

    /// Which streams of one period play on in which of another one: their numbers among those of their kind, in the
    /// order of the MPD.
    package struct Order: Sendable, Equatable {
        /// The streams of sound.
        package private(set) var sound: [Int] = []
        /// The streams of subtitles.
        package private(set) var subtitles: [Int] = []

        mutating func append(_ number: Int, of kind: TrackKind) {
            switch kind {
            case .audio: sound.append(number)
            case .subtitles: subtitles.append(number)
            case .video, .other: break
            }
        }
    }

    /// Why two periods do not fit into one file.
    package struct Mismatch: Error, Equatable {
        /// A sentence without its end, such as `period 2 has no sound in de, which period 1 has`.
        package let reason: String
    }

    /// The order of the tracks of each of `periods` that makes them those of the first one.
    ///
    /// Throws if one lacks a track of another one, or if a decoder would have to be set up again between two.
    package static func orders(of periods: [ExportedPeriod]) throws(Mismatch) -> [Order] {
        var orders: [Order] = []
        for period in periods { orders.append(try period.order(asIn: periods[0])) }
        return orders
    }

    /// The period without what a file of sound alone leaves out.
    package var soundAlone: ExportedPeriod {
        var result = self
        result.tracks?.removeAll { $0.kind != .audio }
        return result
    }

    private func order(asIn first: ExportedPeriod) throws(Mismatch) -> Order {
        guard let tracks, let expected = first.tracks else {
            throw Mismatch(
                reason: "\(tracks == nil ? name : first.name) is encrypted or damaged where it says what it has")
        }
        var order = Order()
        var rest = Array(tracks.enumerated())
        for wanted in expected {
            guard let index = rest.firstIndex(where: { $0.element.isLike(wanted) }) else {
                throw Mismatch(reason: "\(name) has no \(wanted.words), which \(first.name) has")
            }
            let (place, found) = rest.remove(at: index)
            if let (own, others) = found.difference(from: wanted) {
                throw Mismatch(
                    reason: "the \(wanted.words) is \(others) in \(first.name) and \(own) in \(name)")
            }
            order.append(tracks[..<place].count { $0.kind == found.kind }, of: found.kind)
        }
        if let more = rest.first?.element {
            throw Mismatch(reason: "\(first.name) has no \(more.words), which \(name) has")
        }
        return order
    }
}

extension ExportedPeriod {
    /// The period at `index` of `mpd`, which is exported as `path`.
    init(_ index: Int, of mpd: MPD, at path: String) throws(PlaylistError) {
        let period = mpd.periods[index]
        let id = String((period.id ?? "").filter { $0.isASCII && $0 >= " " }.prefix(24))
        name = "period \(index + 1)" + (id.isEmpty ? "" : " (\(id))")
        playlistName = ExportNames.part(index + 1, of: path)
        playlists = [Playlist(path: playlistName, bytes: try mpd.presentation(ofPeriod: index))]
        tracks = period.adaptationSets.flatMap { set in
            set.representations.map { Track(kind: TrackKind(of: set), language: set.language, $0.attributes) }
        }
    }

    /// The sound and the pictures of a movie, as its map describes them.
    static func tracks(of movie: [TrackDescription], language: String?) -> [Track] {
        movie.compactMap { track in
            switch track.kind {
            case .video:
                Track(kind: .video, codecs: track.codec, pictureSize: "\(track.width)x\(track.height)")
            case .audio:
                Track(
                    kind: .audio, language: language, codecs: track.codec, samplingRate: "\(track.samplingRate) Hz",
                    channels: track.channels == 1 ? "1 channel" : "\(track.channels) channels")
            case .subtitles, .other: nil
            }
        }
    }
}

extension ExportedPeriod.Track {
    fileprivate init(kind: TrackKind, language: String?, _ attributes: RepresentationAttributes) {
        self.init(kind: kind, language: language, codecs: attributes.codecs)
        if let width = attributes.width, let height = attributes.height { pictureSize = "\(width)x\(height)" }
        samplingRate = attributes.audioSamplingRate.map { "\($0) Hz" }
    }

    /// What it is called in messages.
    fileprivate var words: String {
        let language = language.map { " in \($0.filter { $0.isASCII && $0 >= " " }.prefix(24))" } ?? ""
        switch kind {
        case .video, .other: return "picture"
        case .audio: return "sound" + language
        case .subtitles: return "subtitles" + language
        }
    }

    fileprivate func isLike(_ other: Self) -> Bool {
        guard kind == other.kind else { return false }
        return kind == .video || kind == .other || language?.lowercased() == other.language?.lowercased()
    }

    /// In what it differs from `other`, and how that is; `nil` if one decoder plays both, as far as is known.
    fileprivate func difference(from other: Self) -> (own: String, others: String)? {
        let pairs = [
            (codecs, other.codecs), (pictureSize, other.pictureSize), (samplingRate, other.samplingRate),
            (channels, other.channels),
        ]
        for case (let own?, let others?) in pairs where Self.decoder(own) != Self.decoder(others) {
            let printable = { (text: String) in String(text.filter { $0.isASCII && $0 >= " " }.prefix(40)) }
            return (printable(own), printable(others))
        }
        return nil
    }

    /// What of `codecs` a decoder must know before the first frame; those of AVC and HEVC read the rest in the stream.
    private static func decoder(_ codecs: String) -> Set<String> {
        let inBand = ["avc1": "avc", "avc3": "avc", "hvc1": "hevc", "hev1": "hevc"]
        return Set(
            codecs.lowercased().split(separator: ",").map { codec in
                let codec = codec.filter { $0 != " " }
                return inBand[String(codec.prefix(4))] ?? codec
            })
    }
}
