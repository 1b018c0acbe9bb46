import HTTPSemantics
import HTTPTypes
import Primitives
import Playlists
import Reprise

/// Who sent a request, as far as its fields and its token tell.
///
/// In a cache of several users, what only one of them was told counts for requests with the same fields alone.
struct Requester: Hashable, Sendable {
    private let values: [String]

    init(_ head: ClientHead) {
        let fields = head.originFields
        let names = fields.unkeyed.union(Self.names).sorted()
        values =
            [head.sender?.holder.token.text ?? ""]
            + names.compactMap { name in
                guard let field = HTTPField.Name(name), fields[field] != nil else { return nil }
                return "\(name): \(fields[values: field].joined(separator: "\n"))"
            }
    }

    /// Credentials, and what tells players apart that have none.
    private static let names: Set<String> = [
        "accept-language", "authorization", "cookie", "proxy-authorization", "user-agent",
    ]
}

/// What served playlists say about other files: how they are treated, their titles, variables, and the live edge.
///
/// What a response says that answers everyone counts for everyone. What another one says counts for the requester that
/// got it: a response that is not stored, such as one with `private`, `no-store` or credentials, or one that the
/// request's fields selected (RFC 9111 §3, §4.1).
final class StreamKnowledge: Sendable {
    /// What counts for the same requests.
    final class Part: Sendable {
        let listed: ListedFiles
        let variables: ImportedVariables
        let liveEdge: LiveEdge

        fileprivate init(listed: ListedFiles, variables: ImportedVariables, liveEdge: LiveEdge) {
            (self.listed, self.variables, self.liveEdge) = (listed, variables, liveEdge)
        }
    }

    /// Number of requesters that are remembered; the one that was noted longest ago is forgotten.
    private static let capacity = 64
    /// Most files of all lists, and most bytes of URLs and variables, that are remembered for each of them.
    private static let (mostFiles, mostBytes) = (10_000, 128 << 10)

    private let everyone: Part
    /// Cookies set by served playlists; `nil` in a shared cache, where they belong to individual users.
    let cookies: PlaylistCookies?
    /// Decryption keys in memory.
    let keys: HeldKeys
    private let isShared: Bool
    private let clock: CacheClock
    /// A leaf.
    private let own = Mutex<[(requester: Requester, part: Part)]>([])

    init(isShared: Bool, clock: CacheClock) {
        (self.isShared, self.clock) = (isShared, clock)
        cookies = isShared ? nil : PlaylistCookies(now: clock.now)
        keys = HeldKeys(isShared: isShared, clock: clock)
        everyone = Part(
            listed: ListedFiles(), variables: ImportedVariables(isShared: isShared), liveEdge: LiveEdge(clock: clock))
    }

    /// The current time, in seconds since 1970.
    var now: Int64 { Int64(clock.now()) }

    /// The sender of `head`; `nil` in a cache of one user.
    func requester(of head: ClientHead) -> Requester? { isShared ? Requester(head) : nil }

    /// What counts for the request with this head.
    func view(for head: ClientHead) -> View {
        // Most caches know nothing that counts for one requester alone.
        let isNeeded = isShared && own.withLock { !$0.isEmpty }
        return view(for: isNeeded ? Requester(head) : nil)
    }

    /// What counts for `requester`.
    func view(for requester: Requester?) -> View {
        guard let requester else { return View(everyone: everyone, own: nil) }
        return View(everyone: everyone, own: own.withLock { $0.last { $0.requester == requester }?.part })
    }

    /// What counts for the requests for which `part` counts.
    func view(in part: Part) -> View { View(everyone: everyone, own: part === everyone ? nil : part) }

    /// Where to note what counts for `requester` alone; for everyone if it is `nil`.
    func part(for requester: Requester?) -> Part {
        guard let requester else { return everyone }
        return own.withLock { own in
            let known = own.firstIndex { $0.requester == requester }.map { own.remove(at: $0).part }
            let part =
                known
                ?? Part(
                    listed: ListedFiles(capacity: Self.mostFiles),
                    variables: ImportedVariables(isShared: isShared, maximumBytes: Self.mostBytes),
                    liveEdge: LiveEdge(clock: clock, maximumBytes: Self.mostBytes))
            own.append((requester, part))
            if own.count > Self.capacity { own.removeFirst() }
            return part
        }
    }
}

extension StreamKnowledge {
    /// What counts for one request.
    struct View: Sendable {
        fileprivate let everyone: Part
        fileprivate let own: Part?

        /// What is known of the file at `url`, which has this name if it is a playlist itself.
        func find(_ url: ResourceURL, named name: String? = nil) -> Found {
            let others = everyone.listed.find(url, named: name)
            var found = Found(file: others.file, titles: others.titles, version: Version(others: others.version))
            guard let own else { return found }
            let mine = own.listed.find(url, named: name)
            // A key stays a key, whatever other lists say.
            if others.file != .key, let file = mine.file { (found.file, found.isOwn) = (file, true) }
            found.titles = mine.titles + others.titles.filter { !mine.titles.contains($0) }
            (found.version.own, found.version.ofOwn) = (own, mine.version)
            return found
        }

        /// The variables that the playlist at `url` imports, and whether they count for the requester alone; `nil` if
        /// none are known.
        func imported(by url: ResourceURL) -> (variables: Variables, isOwn: Bool)? {
            if let own = own?.variables.imported(by: url) { return (own, true) }
            return everyone.variables.imported(by: url).map { ($0, false) }
        }

        /// The place of `url` at the live edge; `nil` if no playlist names it there.
        func place(of url: ResourceURL) -> LiveEdge.Place? {
            own?.liveEdge.place(of: url) ?? everyone.liveEdge.place(of: url)
        }

        /// The target duration of the playlist at `url`, whatever its delivery directives.
        func targetDuration(of url: ResourceURL) -> Duration? {
            own?.liveEdge.targetDuration(of: url) ?? everyone.liveEdge.targetDuration(of: url)
        }

        /// What ``find(_:named:)`` depends on.
        var version: Version {
            Version(others: everyone.listed.version, own: own, ofOwn: own?.listed.version ?? 0)
        }
    }

    /// What is known of a file.
    struct Found: Sendable {
        /// How it is treated; `nil` if no list names it.
        var file: ListedFile?
        /// Whether that counts for the requester alone.
        var isOwn = false
        /// The titles of the playlists that name it, and of itself.
        var titles: [TitleReference]
        /// ``View/version`` at the time.
        var version: Version
    }

    /// Differs where a list was noted in between, or the requester is another one.
    struct Version: Equatable, Sendable {
        fileprivate let others: Int
        fileprivate var own: Part?
        fileprivate var ofOwn = 0

        static func == (first: Version, second: Version) -> Bool {
            first.own === second.own && first.others == second.others && first.ofOwn == second.ofOwn
        }
    }
}
