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
}

/// The files that one playlist lists, known by hashes of their URLs.
///
/// The seed of the hashes is the process's own, so that no origin can choose URLs that collide.
struct Listing: Sendable {
    /// The files that a template of an MPD stands for: everything between its first and its last dollar sign may vary.
    private struct Pattern: Sendable {
        let prefix: String
        let suffix: String

        init?(_ template: String) {
            guard let first = template.firstIndex(of: "$"), let last = template.lastIndex(of: "$") else { return nil }
            prefix = String(template[..<first])
            suffix = String(template[last...].dropFirst())
        }

        func matches(_ url: String) -> Bool {
            url.utf8.count >= prefix.utf8.count + suffix.utf8.count && url.hasPrefix(prefix) && url.hasSuffix(suffix)
        }
    }

    /// The key of the playlist, without what asks for a version of it.
    let name: String
    /// The generation of the playlist; empty if it is not stored.
    let generation: String
    /// Numbers of the first segment and of the one behind the last, in HLS.
    let sequence: Int64?
    let nextSequence: Int64?
    private let role: StreamRole?
    private var files: Set<Int> = []
    private var keys: Set<Int> = []
    private var growing: Set<Int> = []
    private var playlists: Set<Int> = []
    private var patterns: [Pattern] = []
    /// The titles that the playlist and its files belong to.
    let titles: [TitleReference]
    /// A hash of all links without their queries.
    private var shape = 0

    /// Largest number of patterns kept: each costs a comparison for every file that is asked for first.
    private static let mostPatterns = 64

    /// What `playlist` lists, which came from `document` and belongs to `titles`; adds to `urls` what may be stored.
    init(
        _ playlist: Playlist, named name: String, generation: String, document: URIReference,
        in titles: [TitleReference], urls: inout [ResourceURL]
    ) {
        self.name = name
        self.generation = generation
        self.titles = titles
        sequence = playlist.role.sequence
        nextSequence = playlist.nextSequence
        role = playlist.segmentRole
        var hasher = Hasher()
        for (link, target) in playlist.targets(in: document) {
            if let url = add(link, to: target) { urls.append(url) }
            hasher.combine(link.kind)
            hasher.combine(link.extent)
            hasher.combine(target.withoutQuery)
        }
        shape = hasher.finalize()
        growing.subtract(files)
    }

    /// Whether both are of one generation of a playlist.
    func isSameVersion(as other: Listing) -> Bool {
        name == other.name && generation == other.generation && !generation.isEmpty
    }

    /// Whether only the queries of links are others than in `former`, as when the tokens in them have expired.
    func differsInQueriesOnly(from former: Listing) -> Bool { shape == former.shape && files != former.files }

    /// Takes in what a link leads to; returns its URL if it is one file that may be stored.
    private mutating func add(_ link: Link, to target: URIReference) -> ResourceURL? {
        switch link.kind {
        case .key, .sessionKey: insert(target, into: \.keys)
        case .segment, .map, .image, .index, .prefetch: return insert(target, into: \.files)
        case .part where link.extent == .whole: return insert(target, into: \.files)
        case .part: insert(target, into: \.growing)
        case .preloadHint where link.extent != .whole: insert(target, into: \.growing)
        case .baseURL where !target.path.hasSuffix("/"): return insert(target, into: \.files)
        case .variant, .rendition, .iFrameVariant, .imageVariant: return insert(target, into: \.playlists)
        case .mediaTemplate, .initializationTemplate, .indexTemplate:
            if patterns.count < Self.mostPatterns, let pattern = Pattern(target.text) { patterns.append(pattern) }
        default: break
        }
        return nil
    }

    @discardableResult
    private mutating func insert(
        _ target: URIReference, into set: WritableKeyPath<Listing, Set<Int>>
    ) -> ResourceURL? {
        guard let url = try? ResourceURL(target.withoutFragment.text) else { return nil }
        return self[keyPath: set].insert(url.description.hashValue).inserted ? url : nil
    }

    /// Number of files and patterns, by which memory is bounded.
    var count: Int { 16 + files.count + keys.count + growing.count + playlists.count + patterns.count }

    /// Whether the playlist names the file at `url`, which may be stored; `hash` is that of `url`.
    func names(_ url: String, hash: Int) -> Bool {
        files.contains(hash) || playlists.contains(hash) || patterns.contains { $0.matches(url) }
    }

    /// How a file is treated; `hash` is that of `url`.
    func file(_ url: String, hash: Int) -> ListedFile? {
        if keys.contains(hash) { return .key }
        if growing.contains(hash) { return .growing }
        guard let role, files.contains(hash) || patterns.contains(where: { $0.matches(url) }) else { return nil }
        return .stored(role)
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
