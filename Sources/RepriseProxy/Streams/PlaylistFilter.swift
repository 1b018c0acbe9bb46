import HTTPSemantics
import Playlists
import Primitives
import Reprise

/// Chooses HLS playlists and MPDs, so that every link in them leads back to the proxy.
///
/// A playlist is recognized by its media type, its extension, or its first bytes, whatever its type is. The first bytes
/// are not checked if the file has the extension of a media file. A class, because the filter runs for every request,
/// and copying its properties would cost more than the decision.
final class PlaylistFilter: BodyFilter {
    /// Called with a playlist that is sent as the origin sent it, because it exceeds a bound or is malformed.
    let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void
    private let limits: PlaylistLimits
    private let streams: StreamKnowledge
    private let notes: StreamNotes
    private let tracks: StoredTracks
    private let others = OtherFiles()
    private let exceeding = OtherFiles()
    private let turns = HostTurns()
    let texts = WrittenTexts()

    init(
        streams: StreamKnowledge, files: FileFinder, cast: CastScope? = nil, limits: PlaylistLimits = PlaylistLimits(),
        onUneditable: @escaping @Sendable (ResourceURL, PlaylistError) -> Void
    ) {
        self.streams = streams
        self.limits = limits
        tracks = StoredTracks(files: files, limits: limits)
        notes = StreamNotes(streams: streams, cast: cast)
        self.onUneditable = onUneditable
    }

    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        let type = MediaType(information.mediaType)
        let isDeclared = PlaylistFormat.isDeclared(by: type?.essence, name: url.lastPathComponent)
        guard isDeclared || !url.namesMedia && !others.contains(information) else { return nil }
        if !isDeclared, type?.isDeclaredMedia == true, information.completeLength.map({ $0 > limits.size }) == true {
            return nil
        }
        return PlaylistRewriter(
            isDeclared: isDeclared, limits: limits, streams: streams, notes: notes, texts: texts, tracks: tracks,
            others: others, turns: turns, exceeding: exceeding, onUneditable: onUneditable)
    }

    func noteCoded(_ information: ContentInformation, at url: ResourceURL) {
        let type = MediaType(information.mediaType)?.essence
        guard PlaylistFormat.isDeclared(by: type, name: url.lastPathComponent) else { return }
        onUneditable(
            url, PlaylistError(.encoding, "The origin sent it in a content coding, although none was asked for."))
    }
}

/// Notes bodies as another filter does, but passes them on unedited: to another server, which edits them for its own
/// clients.
struct NotingFilter: BodyFilter {
    let filter: any BodyFilter

    func editor(of information: ContentInformation, at url: ResourceURL) -> (any BodyEditor)? {
        filter.editor(of: information, at: url).map(NotingEditor.init)
    }

    private struct NotingEditor: BodyEditor {
        let editor: any BodyEditor

        var maximumLength: Int { editor.maximumLength }
        var looksFirst: Bool { editor.looksFirst }

        func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool? {
            editor.accepts(beginning, of: information)
        }

        func edit(_ body: GatheredBody) async throws -> [UInt8]? {
            // This notes what the playlist lists. The edited text is for players of this server only.
            _ = try await editor.edit(body)
            return nil
        }
    }
}

/// Stored responses that need no second look: their first bytes show that they are no playlists, or they exceed a
/// limit.
///
/// Kept in memory, in a bounded number; a forgotten response is checked once more.
final class OtherFiles: Sendable {
    private struct State {
        /// Generations noted last.
        var recent: Set<String> = []
        /// Those noted before.
        var former: Set<String> = []
    }

    /// Number of noted generations after which older ones are forgotten.
    private let capacity: Int
    /// A leaf.
    private let state = Mutex(State())

    init(capacity: Int = 4096) { self.capacity = capacity }

    /// Notes the response with this metadata; does nothing for one that is not stored.
    func note(_ information: ContentInformation) {
        guard !information.generation.isEmpty else { return }
        state.withLock { state in
            if state.recent.count >= capacity { (state.former, state.recent) = (state.recent, []) }
            state.recent.insert(information.generation)
        }
    }

    /// Whether the response with this metadata was noted.
    func contains(_ information: ContentInformation) -> Bool {
        state.withLock {
            $0.recent.contains(information.generation) || $0.former.contains(information.generation)
        }
    }
}

/// Admits one slow playlist of each host at a time, so that the playlists of one host don't delay those of others.
final class HostTurns: Sendable {
    private struct Entry {
        let turn = Turn()
        var users = 0
    }

    /// The hosts with playlists that are being read or waiting.
    private let hosts = Mutex<[String: Entry]>([:])

    /// Runs `body` when no other playlist of `host` is being read.
    ///
    /// Rethrows, and throws `CancellationError` when the task is canceled during the wait.
    func run<Result: Sendable>(
        at host: String, _ body: @Sendable () async throws -> Result
    ) async throws -> Result {
        let turn = hosts.withLock { hosts in
            var entry = hosts[host] ?? Entry()
            entry.users += 1
            hosts[host] = entry
            return entry.turn
        }
        defer {
            hosts.withLock { hosts in
                hosts[host]?.users -= 1
                if hosts[host]?.users == 0 { hosts[host] = nil }
            }
        }
        try await turn.take()
        defer { turn.leave() }
        return try await body()
    }

    /// Number of hosts with playlists that are being read or waiting.
    var count: Int { hosts.withLock { $0.count } }
}
