import Playlists
import Reprise

/// How the proxy treats a file because a playlist lists it.
enum ListedFile: Sendable, Hashable {
    /// Stored, in this role.
    case stored(StreamRole)
    /// A decryption key: held in memory only.
    case key
    /// A file that grows part by part and is not listed as a segment yet: its bytes are passed on and not stored.
    case growing

    /// Whether this takes precedence over all other lists.
    var isFirm: Bool {
        switch self {
        case .key: true
        case .stored(let role): role.term == .permanent
        case .growing: false
        }
    }
}

/// The files that one playlist lists, known by hashes of their URLs.
///
/// The seed of the hashes is the process's own, so that no origin can choose URLs that collide.
struct Listing: Sendable {
    /// What a list has a file for.
    struct Uses: OptionSet, Sendable {
        let rawValue: UInt8

        static let key = Uses(rawValue: 1)
        static let growing = Uses(rawValue: 2)
        static let file = Uses(rawValue: 4)
        static let playlist = Uses(rawValue: 8)
        /// The uses that make a file part of the titles of the list.
        static let ofTitle: Uses = [.file, .playlist]
    }

    /// The key of the playlist, without what asks for a version of it.
    let name: String
    /// The generation of the playlist; empty if it is not stored.
    let generation: String
    /// Numbers of the first segment and of the one behind the last, in HLS.
    let sequence: Int64?
    let nextSequence: Int64?
    private let role: StreamRole?
    /// Whether segments are identified by their numbers; true for a live list, even after it has ended.
    let isNumbered: Bool
    /// Distinguishes files that have the same name at different times.
    private struct Identity: Sendable {
        /// The Media Sequence Number; `nil` if the file is not a segment, or if the list names it twice.
        var sequence: Int64?
        /// The run of the stream; see ``StreamRole/run``.
        var run: Int64?
    }

    /// Identities of files, by the hashes of their URLs; files without an entry have no identity.
    private var identities: [Int: Identity] = [:]
    /// When a restart of the stream was detected, in seconds since 1970; `nil` if it was not restarted.
    var restart: Int64?
    /// The files, by the hashes of their URLs.
    private(set) var files: [Int: Uses] = [:]
    private(set) var patterns: [ListedPattern] = []
    /// The titles that the playlist and its files belong to.
    let titles: [TitleReference]
    /// A hash of all links without their queries.
    private var shape = 0
    /// The ids of a live manifest's periods, by their starts in seconds.
    private var periods: [Double: String] = [:]

    /// Maximum number of patterns of a list.
    private static let mostPatterns = 64
    /// Maximum number of titles that a file belongs to.
    static let mostTitles = 32

    /// What `playlist` lists, which came from `document` and belongs to `titles`; adds to `urls` what may be stored.
    ///
    /// `wasLive` is true if an earlier version of the playlist was live.
    init(
        _ playlist: Playlist, named name: String, generation: String, document: URIReference,
        in titles: [TitleReference], wasLive: Bool = false, urls: inout [ResourceURL]
    ) {
        self.name = name
        self.generation = generation
        self.titles = Array(titles.prefix(Self.mostTitles))
        sequence = playlist.role.sequence
        nextSequence = playlist.nextSequence
        role = playlist.segmentRole
        isNumbered = role?.isLive == true || wasLive
        let numbers = isNumbered ? playlist.segmentNumbers : [:]
        var hasher = Hasher()
        for (link, target) in playlist.targets(in: document) {
            var identity = Identity(sequence: link.extent == .whole ? numbers[link.place] : nil)
            if case .dash(let mpd) = playlist { identity.run = mpd.run(of: link) }
            if let url = add(link, to: target, as: identity) { urls.append(url) }
            hasher.combine(link.kind)
            hasher.combine(link.extent)
            hasher.combine(target.withoutQuery)
        }
        shape = hasher.finalize()
        if case .dash(let mpd) = playlist, mpd.isDynamic {
            for period in mpd.periods { periods[period.start ?? 0] = period.id }
        }
    }

    /// Whether both are of one generation of a playlist.
    func isSameVersion(as other: Listing) -> Bool {
        name == other.name && generation == other.generation && !generation.isEmpty
    }

    /// Whether only the queries of links are others than in `former`, as when the tokens in them have expired.
    func differsInQueriesOnly(from former: Listing) -> Bool { shape == former.shape && files != former.files }

    /// Whether a period of `former` was replaced by another one that starts at the same time.
    func hasOtherPeriods(than former: Listing) -> Bool {
        periods.contains { start, id in former.periods[start].map { $0 != id } ?? false }
    }

    /// Takes in what a link leads to; returns its URL if it is one file that may be stored.
    private mutating func add(_ link: Link, to target: URIReference, as identity: Identity) -> ResourceURL? {
        switch link.kind {
        case .key, .sessionKey: insert(target, for: .key)
        case .segment:
            let url = insert(target, for: .file, as: identity)
            // A file that the list names twice has no unique number.
            if url == nil, identity.sequence != nil { insert(target, for: .file, as: Identity(run: identity.run)) }
            return url
        case .map, .image, .index, .prefetch: return insert(target, for: .file, as: identity)
        case .part where link.extent == .whole: return insert(target, for: .file, as: identity)
        case .part: insert(target, for: .growing)
        case .preloadHint where link.extent != .whole: insert(target, for: .growing)
        case .baseURL where !target.path.hasSuffix("/"): return insert(target, for: .file, as: identity)
        case .variant, .rendition, .iFrameVariant, .imageVariant: return insert(target, for: .playlist)
        case .mediaTemplate, .initializationTemplate, .indexTemplate:
            // A template without variables names one file.
            guard target.text.contains("$") else { return insert(target, for: .file, as: identity) }
            if patterns.count < Self.mostPatterns, let pattern = ListedPattern(target.text, run: identity.run) {
                patterns.append(pattern)
            }
        default: break
        }
        return nil
    }

    @discardableResult
    private mutating func insert(
        _ target: URIReference, for use: Uses, as identity: Identity = Identity()
    ) -> ResourceURL? {
        guard let url = try? ResourceURL(target.withoutFragment.text) else { return nil }
        let hash = url.description.hashValue
        let isNew = files[hash, default: []].insert(use).inserted
        if isNumbered { identities[hash] = identity }
        return isNew ? url : nil
    }

    /// By which memory is bounded: the number of files, and more for the list itself and for each pattern.
    var weight: Int { 16 + files.count + 16 * patterns.count }

    /// Whether the playlist names the file at `url`, which may be stored.
    func names(_ url: ResourceURL) -> Bool {
        let text = url.description
        return files[text.hashValue]?.isDisjoint(with: .ofTitle) == false || patterns.contains { $0.matches(text) }
    }

    /// How to treat the file at `url`, which the list names for these uses.
    func file(_ uses: Uses, at url: String) -> ListedFile? {
        if uses.contains(.key) { return .key }
        if uses.contains(.file) { return role(at: url).map { .stored($0) } }
        return uses.contains(.growing) ? .growing : nil
    }

    private func role(at url: String) -> StreamRole? {
        guard var role else { return nil }
        let identity = identities[url.hashValue]
        role.sequence = identity?.sequence
        let run = identity?.run ?? patterns.first { $0.run != nil && $0.matches(url) }?.run
        role.run = [restart, run].compactMap { $0 }.max()
        return role
    }
}

extension MPD {
    /// Largest number of files for which it is looked whether they are stored already.
    private static let mostFiles = 20_000

    /// The files that its templates and lists stand for; none of a representation that does not say where it ends.
    func files(from document: URIReference) -> [ResourceURL] {
        var urls: [ResourceURL] = []
        func add(_ segment: DASHSegment) {
            guard case .fetchable(let target) = segment.target,
                let url = try? ResourceURL(target.withoutFragment.text)
            else { return }
            urls.append(url)
        }
        for path in paths {
            guard !budget.isExceeded, urls.count < Self.mostFiles else { break }
            guard let segments = try? segments(of: path, base: document, limit: Self.mostFiles - urls.count) else {
                continue
            }
            if let initialization = initialization(of: path, base: document) { add(initialization) }
            for segment in segments { add(segment) }
        }
        return urls
    }
}
