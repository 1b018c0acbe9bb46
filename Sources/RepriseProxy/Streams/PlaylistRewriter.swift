import Playlists
import Primitives
import Reprise

/// Writes the links of a playlist so that a player resolves each of them to this proxy.
///
/// A link that does so by itself stays as the origin wrote it, as do links that are never fetched: other schemes, user
/// information, clocks, and those that lead to this proxy already. Content steering is taken out.
struct PlaylistRewriter: BodyEditor {
    /// Whether the media type or the extension says that it is a playlist.
    let isDeclared: Bool
    let limits: PlaylistLimits
    let streams: StreamKnowledge
    let notes: StreamNotes
    let texts: WrittenTexts
    let tracks: StoredTracks
    let others: OtherFiles
    let turns: HostTurns
    /// Playlists that turned out to be beyond a limit, which are not worked through again.
    let exceeding: OtherFiles
    let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void

    var maximumLength: Int { limits.size }

    var looksFirst: Bool { !isDeclared }

    func accepts(_ beginning: [UInt8], of information: ContentInformation) -> Bool? {
        switch PlaylistFormat.look(at: beginning) {
        case .format: return true
        case .undecided: return nil
        case .none:
            others.note(information)
            return false
        }
    }

    func known(_ body: GatheredBody) -> [UInt8]? {
        guard !body.information.generation.isEmpty, !body.isWithoutOrigin, !body.isHostAway else { return nil }
        let (imported, part) = known(of: body)
        return written(for: body, importing: imported, in: part)
    }

    func pieceEditor(_ beginning: [UInt8], of body: GatheredBody) -> (any PieceEditor)? {
        let format = PlaylistFormat(of: beginning)
        if format == .hls, !PlaylistFormat.isUTF16(beginning) { return lineEditor(of: body) }
        if format != nil { onUneditable(body.url, PlaylistError(.tooLarge, "It is longer than \(limits.size) bytes.")) }
        return nil
    }

    private func lineEditor(of body: GatheredBody) -> LineEditor {
        LineEditor(body, imported: known(of: body).imported, limits: limits, onUneditable: onUneditable)
    }

    func edit(_ body: GatheredBody) async throws -> [UInt8]? {
        guard !exceeding.contains(body.information) else {
            throw UneditedBody(reason: "not edited: beyond a limit when it was first read")
        }
        do {
            if body.isWithoutOrigin || body.isHostAway {
                return try await turns.run(at: body.url.authority) { try await selected(body) }
            }
            if let quick = limits.quick(forInput: body.bytes.count) {
                do {
                    return try await DiskQueue.playlists.runCancelable {
                        try rewritten(body, limits: quick)
                    }
                } catch let error as PlaylistError where error.code == .budgetExceeded {}
            }
            return try await slowly(body) { try rewritten(body, limits: limits) }
        } catch let error as PlaylistError {
            switch error.code {
            case .canceled: throw CancellationError()
            case .notAPlaylist: return nil
            case .tooManyLines, .tooManyLinks, .outputTooLong, .lineTooLong: return try await edited(body, after: error)
            default: throw unedited(body, because: error)
            }
        }
    }

    /// Runs `work` on a playlist that may take long.
    private func slowly(
        _ body: GatheredBody, _ work: @escaping @Sendable () throws -> [UInt8]?
    ) async throws -> [UInt8]? {
        try await turns.run(at: body.url.authority) {
            try await DiskQueue.largePlaylists.runCancelable(work)
        }
    }

    /// Edits the links of a playlist that exceeds a limit line by line.
    private func edited(_ body: GatheredBody, after error: PlaylistError) async throws -> [UInt8]? {
        guard PlaylistFormat(of: body.bytes) == .hls else { throw unedited(body, because: error) }
        return try await slowly(body) {
            var lines = lineEditor(of: body)
            let text = lines.edit(body.bytes) + lines.finish()
            try Cancellation.check()
            return text
        }
    }

    private func unedited(_ body: GatheredBody, because error: PlaylistError) -> UneditedBody {
        onUneditable(body.url, error)
        // Don't remember the result if variables are imported, because they may differ next time.
        if error.code.isLimit, known(of: body).imported == nil { exceeding.note(body.information) }
        return UneditedBody(reason: "not edited: \(error.code.rawValue)")
    }

    /// The text with stored files only, because no others can be had.
    private func selected(_ body: GatheredBody) async throws -> [UInt8]? {
        let document = URIReference(body.base.description)
        let playlist = try await DiskQueue.largePlaylists.runCancelable { try remembered(body) }
        guard playlist.isOfStream, body.isWithoutOrigin || !playlist.role.isLive else {
            return try await DiskQueue.largePlaylists.runCancelable { try Self.written(playlist, of: body) }
        }
        let selection: OfflineSelection?
        do {
            selection =
                switch playlist {
                case .hls(let list): try await tracks.selection(of: list, at: document)
                case .dash(let mpd): try await tracks.selection(of: mpd, at: document)
                }
        } catch let error as RepriseError where error.code == .notStored && !body.isWithoutOrigin {
            // Nothing would be left of it, and its host may be back for the first segment.
            selection = nil
        }
        return try await DiskQueue.largePlaylists.runCancelable {
            try playlist.budget.check()
            return try Self.written(playlist, of: body, keeping: selection)
        }
    }

    /// Reads the playlist in `body`, once for each version, and notes its links and variables.
    private func remembered(_ body: GatheredBody) throws -> Playlist {
        let document = URIReference(body.base.description)
        let (imported, part) = known(of: body)
        let context = HLSContext(url: document, imported: imported)
        let generation = body.information.generation
        let playlist =
            if generation.isEmpty {
                try Playlist(body.bytes, context: context, limits: limits)
            } else {
                try tracks.playlists.playlist(
                    for: .init(generation: generation, of: body.resource.key.text, context: context),
                    reading: body.bytes, limits: limits)
            }
        try notes.note(playlist, of: body, in: part)
        // A live list that is as new as it may be goes on: its host may be back for the next segment.
        if case .hls(let list) = playlist, playlist.isOfStream { part.variables.note(list, from: document) }
        return playlist
    }

    private func rewritten(_ body: GatheredBody, limits: PlaylistLimits) throws(PlaylistError) -> [UInt8]? {
        let (imported, part) = known(of: body)
        if let bytes = written(for: body, importing: imported, in: part) { return bytes }
        let context = HLSContext(url: URIReference(body.base.description), imported: imported)
        let playlist = try Playlist(body.bytes, context: context, limits: limits)
        try notes.note(playlist, of: body, in: part)
        let bytes = try Self.written(playlist, of: body)
        if case .hls(let list) = playlist { part.variables.note(list, from: URIReference(body.base.description)) }
        // The playlist whose variables others import must be read each time: the one that is served last counts.
        if playlist.segmentRole != nil || !playlist.hasVariables {
            texts.keep(
                WrittenTexts.Text(bytes: bytes, role: playlist.role(of: body.information), imported: imported),
                for: .init(body))
        }
        return bytes
    }

    /// The variables that the playlist in `body` imports, and where to note what it says.
    ///
    /// A playlist for everyone says something else with variables that one requester was given.
    private func known(of body: GatheredBody) -> (imported: Variables?, part: StreamKnowledge.Part) {
        let imported = streams.view(for: body.requester).imported(by: body.url)
        let isOwn = !body.isForEveryone || imported?.isOwn == true
        return (imported?.variables, streams.part(for: isOwn ? body.requester : nil))
    }

    /// The text that was written for an earlier request.
    private func written(
        for body: GatheredBody, importing imported: Variables?, in part: StreamKnowledge.Part
    ) -> [UInt8]? {
        guard notes.isNoted(body, in: part), let text = texts.text(for: WrittenTexts.Key(body), imported: imported)
        else { return nil }
        body.resource.assign(text.role, to: body.information)
        return text.bytes
    }

    /// The text of `playlist` with its links written.
    static func written(
        _ playlist: Playlist, of body: GatheredBody, keeping selection: OfflineSelection? = nil
    ) throws(PlaylistError) -> [UInt8] {
        var links = try ProxyLinks(playlist, of: body)
        var editor = PlaylistEditor(body.bytes, within: playlist.budget)
        if case .dash(let mpd) = playlist, let base = links.insertedBase { try editor.insertBaseURL(base, in: mpd) }
        // A player knows the query that it sent, and not that of the URL which answered after a redirect.
        if case .hls(let list) = playlist, body.base.description != body.url.description {
            for variable in list.queryVariables { try editor.spellOut(variable) }
        }
        // A steering server names hosts that the player would put in place of the proxy's.
        for place in playlist.steering { try editor.remove(place) }
        if let selection { try editor.keep(selection) }
        let lines = playlist.steering + (selection?.removedLines ?? [])
        var removed = lines.sorted { $0.lowerBound < $1.lowerBound }[...]
        for link in playlist.links {
            while let place = removed.first, place.upperBound <= link.place.lowerBound { removed.removeFirst() }
            if let place = removed.first, place.lowerBound <= link.place.lowerBound { continue }
            if let uri = try links.replacement(of: link) { try editor.replace(link, with: uri) }
        }
        // Also unchanged it gets a tag of its own: the origin's may be weak, and stay while the list changes.
        return editor.isUnchanged ? body.bytes : try editor.edited()
    }
}
