import HTTPSemantics
import Playlists
package import Reprise

/// Finds the files that a download of a stream consists of, in HLS and in DASH.
///
/// Of a live stream and of one whose keys only a player's system can get, nothing is downloaded.
package struct PlaylistPlanner: StreamPlanner {
    private let limits = PlaylistLimits()

    /// A planner.
    package init() {}

    package var largestPlaylist: Int64 { Int64(limits.size) }

    package func mayBePlaylist(_ information: ContentInformation, at url: ResourceURL) -> Bool {
        let type = MediaType(information.mediaType)?.essence
        return PlaylistFormat.isDeclared(by: type, name: url.lastPathComponent)
            || PlaylistFormat.isVague(type) && !url.namesMedia
    }

    package func files(
        of first: StreamDocument, selection: StreamSelection, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamFile]? {
        let base = URIReference(first.url.description)
        guard PlaylistFormat(of: first.bytes) != nil else { return nil }
        var plan = Plan()
        switch try Self.reading({ try Playlist(first.bytes, context: HLSContext(url: base), limits: limits) }) {
        case .hls(let list) where list.kind == .multivariant || list.kind == .mixed:
            let tracks = try HLSSelection(list, by: selection).links
            for link in tracks {
                guard case .fetchable(let target) = list.target(of: list.links[link], base: base) else { continue }
                let document = try await load(try ResourceURL(target.withoutFragment.text))
                let url = URIReference(document.url.description)
                let context = HLSContext(url: url, imported: list.variables)
                let media = try Self.reading { try HLSPlaylist(document.bytes, context: context, limits: limits) }
                try plan.add(media, at: url)
            }
        case .hls(let list):
            // A list of stations or films in the same syntax is no stream.
            guard list.kind == .media, list.media.targetDuration != nil else { return nil }
            try plan.add(list, at: base)
        case .dash(let mpd):
            for path in try DASHSelection(mpd, by: selection).paths {
                try Self.reading { try plan.add(mpd, path: path, at: base) }
            }
        }
        return plan.files
    }

    /// The errors of playlists in the words of downloads.
    private static func reading<T>(_ work: () throws -> T) throws -> T {
        do { return try work() } catch let error as PlaylistError {
            throw RepriseError(.notDownloadable, "A playlist of the stream cannot be read: \(error.message)")
        }
    }
}

extension PlaylistPlanner {
    /// The files found so far, each once.
    private struct Plan {
        var files: [StreamFile] = []
        private var known: Set<String> = []

        /// Adds what a media playlist names: keys and maps, then the segments in order.
        mutating func add(_ list: HLSPlaylist, at base: URIReference) throws {
            guard list.kind == .media else {
                throw RepriseError(.notDownloadable, "The stream names as a media playlist what is none.")
            }
            guard !list.media.isLive else { throw PlaylistPlanner.isLive }
            let media = list.media
            let mapKeys = media.maps.map(\.keySet)
            for keySet in Set(media.segments.map(\.keySet) + mapKeys).sorted() {
                try addKeys(media.keySets[keySet].map { media.keys[$0] }, of: list, at: base)
            }
            for map in media.maps { try add(list.target(of: list.links[map.link], base: base)) }
            for segment in media.segments where !segment.isGap {
                try add(list.target(of: list.links[segment.link], base: base))
            }
        }

        /// Adds keys that hold together: one that every player can use is enough.
        private mutating func addKeys(_ keys: [Key], of list: HLSPlaylist, at base: URIReference) throws {
            let encrypting = keys.filter { $0.method != .none }
            guard !encrypting.isEmpty else { return }
            let usable = encrypting.filter(\.isIdentity)
            guard !usable.isEmpty else { throw PlaylistPlanner.isProtected }
            for key in usable {
                guard let link = key.link else { continue }
                switch list.target(of: list.links[link], base: base) {
                case .fetchable(let target): insert(target, isKey: true)
                // The key stands in the playlist.
                case .leftAlone(.scheme("data")): break
                case .leftAlone: throw PlaylistPlanner.isProtected
                }
            }
        }

        /// Adds what a representation consists of.
        mutating func add(_ mpd: MPD, path: MPD.Path, at base: URIReference) throws {
            let initialization = mpd.initialization(of: path, base: base).map { [$0] } ?? []
            for segment in try initialization + mpd.segments(of: path, base: base) { try add(segment.target) }
        }

        private mutating func add(_ target: LinkTarget) throws {
            switch target {
            case .fetchable(let uri): insert(uri, isKey: false)
            case .leftAlone(.scheme("data")): break
            case .leftAlone(let reason):
                throw RepriseError(
                    .notDownloadable, "The stream has a file that cannot be fetched over HTTP (\(reason)).")
            }
        }

        private mutating func insert(_ target: URIReference, isKey: Bool) {
            guard let url = try? ResourceURL(target.withoutFragment.text), known.insert(url.description).inserted
            else { return }
            files.append(StreamFile(url: url, isKey: isKey))
        }
    }

    static let isLive = RepriseError(
        .notDownloadable, "The stream is live: it has no end yet. It can be downloaded when it has ended.")
    static let isProtected = RepriseError(
        .notDownloadable,
        "The stream is protected (DRM): only the player's system can get its keys, and keep them for offline play.")
}
