import HTTPSemantics
import HTTPTypes

/// The files of one title, as requests for them find them: its playlists, and what they name.
struct StreamFiles: Sendable {
    /// The key of the first file.
    let key: CacheKey
    /// The request for the first file; its demand is that of all.
    let request: OriginRequest
    let engine: Engine
    /// How the keys of the other files are derived.
    let keyPolicy: CacheKeyPolicy
    /// Cookies set by the title's playlists.
    private let cookies: PlaylistCookies
    /// How many removals of titles there were when this began: if its own goes, it gets no more files.
    private let asOf: Int

    init(key: CacheKey, request: OriginRequest, engine: Engine, keyPolicy: CacheKeyPolicy) {
        (self.key, self.request, self.engine, self.keyPolicy) = (key, request, engine, keyPolicy)
        cookies = PlaylistCookies(now: engine.clock.now)
        asOf = engine.removedTitleCount
    }

    /// The first file: the outermost playlist, or the only file there is.
    var first: FileDownload { FileDownload(key: key, request: request, engine: engine, content: .title) }

    /// The title that all files belong to.
    var title: TitleReference { TitleReference(key: key, url: request.url) }

    private var planner: (any StreamPlanner)? { engine.configuration.streamPlanner }

    /// Most bytes that the first file has if it is a playlist; `nil` if its metadata say that it is none.
    func textLimit(_ information: ContentInformation) -> Int64? {
        guard let planner, planner.mayBePlaylist(information, at: request.url) else { return nil }
        return planner.largestPlaylist
    }

    /// The text of a file that was read as a playlist; its cookies are kept for the files that it lists.
    func document(_ fetched: FileDownload.Fetched, from url: ResourceURL) -> StreamDocument? {
        guard let bytes = fetched.bytes else { return nil }
        cookies.take(fetched.information, at: url)
        return StreamDocument(bytes: bytes, url: fetched.information.finalURL ?? url)
    }

    /// Why the first file, which was read to its end, is not the playlist that its name or its media type says it is.
    func objection(to fetched: FileDownload.Fetched) -> RepriseError? {
        guard let bytes = fetched.bytes else { return nil }
        return planner?.objection(to: fetched.information, beginning: bytes, at: request.url)
    }

    /// The error if the first file is too long to be read as a playlist and its beginning shows a playlist or a web
    /// page.
    func objection(toLong file: FileDownload, _ information: ContentInformation) async throws -> RepriseError? {
        guard let planner, textLimit(information) != nil else { return nil }
        let head = try await file.storedBeginning()
        if let objection = planner.objection(to: information, beginning: head, at: request.url) { return objection }
        guard planner.beginsPlaylist(head) else { return nil }
        let limit = ByteText.decimal(planner.largestPlaylist)
        return RepriseError(
            .notDownloadable,
            "The playlist \(request.url.redacted) is longer than \(limit), so the files that it names are not read.")
    }

    /// Length in bytes from which a file's beginning is not checked, because error pages are short.
    private static let shortFile: Int64 = 256 << 10

    /// The stored `files` whose first bytes show that they are not media, with the error for each.
    func impostors(among files: [FileDownload]) async throws -> [(file: FileDownload, objection: RepriseError)] {
        var texts: [(file: FileDownload, information: ContentInformation, beginning: [UInt8])] = []
        var hasMedia = false
        for file in files where file.content == .media {
            try Task.checkCancellation()
            guard let known = try await engine.resource(file.key).stored(for: file.request) else { continue }
            let information = known.information
            guard let length = information.completeLength, length < Self.shortFile else {
                hasMedia = true
                continue
            }
            let beginning = await known.storedBeginning(atMost: Int64(BodyBeginning.length))
            switch BodyBeginning(beginning) {
            case .text, .picture: texts.append((file, information, beginning))
            case .binary: hasMedia = true
            case nil: break
            }
        }
        return texts.compactMap { file, information, beginning in
            StreamContent.media.objection(
                to: information, beginning: beginning, isAlone: hasMedia, at: file.request.url
            ).map { (file, $0) }
        }
    }

    /// A playlist of the stream.
    struct Playlist: Sendable {
        let file: FileDownload
        let fetched: FileDownload.Fetched
        let text: StreamDocument
        /// Whether what it names is still to be validated.
        let isRenewed: Bool
    }

    /// The stored response of `file`, a playlist of the stream, if all of it is stored; the origin is not asked.
    func storedPlaylist(_ file: FileDownload) async throws -> FileDownload.Fetched? {
        guard let known = try await engine.resource(file.key).stored(for: file.request),
            let limit = file.key == key ? textLimit(known.information) : planner?.largestPlaylist,
            known.information.completeLength ?? .max <= limit
        else { return nil }
        return try await file.readStored()
    }

    /// Whether what a playlist names is still to be validated, because it is not what was stored before.
    ///
    /// An origin without validators sends the same text as a new representation, which says as much as a 304.
    func isRenewed(_ fetched: FileDownload.Fetched, since former: FileDownload.Fetched?) -> Bool {
        guard fetched.information.replacesEndedPlaylist else { return false }
        guard let former, !former.information.replacesEndedPlaylist else { return true }
        return former.bytes != fetched.bytes
    }

    /// Fetches a playlist that another one names; `arrived` is told as ``FileDownload/fetch(returningUpTo:arrived:)``
    /// tells it.
    ///
    /// The origin is asked whether `stored`, which was read from the store, is current, however fresh it is.
    func playlist(
        at url: ResourceURL, validating stored: FileDownload.Fetched? = nil, arrived: (Int) -> Void
    ) async throws -> Playlist {
        let file = member(at: url, role: .endedPlaylist).validating(stored != nil)
        let limit = planner?.largestPlaylist
        let former = if let stored { stored } else { try await storedPlaylist(file) }
        let fetched = try await file.fetch(returningUpTo: { _ in limit }, arrived: arrived)
        guard let document = document(fetched, from: url) else {
            throw RepriseError(
                .notDownloadable, "\(url.redacted) is no playlist, although the stream names it as one.")
        }
        let isRenewed = isRenewed(fetched, since: former)
        if fetched.information.replacesEndedPlaylist, !isRenewed,
            let live = try engine.resource(file.key).liveGeneration(for: file.request),
            live.information.generation == fetched.information.generation
        {
            live.assign(.endedPlaylist)
        }
        return Playlist(file: file, fetched: fetched, text: document, isRenewed: isRenewed)
    }

    /// Has the origin asked for `files` before they are used again, if playlists that name them were `renewed`: the
    /// stream may have been encoded once more under the same names.
    func validate(_ files: [FileDownload], renewed: [FileDownload]) async {
        guard !renewed.isEmpty else { return }
        for file in files { engine.invalidate(file.key) }
        // Those of which nothing is in memory are found in the index.
        await engine.store?.recorder.flush()
    }

    /// Says that all files were validated which renewed playlists name.
    func settle(_ renewed: [FileDownload]) throws {
        for playlist in renewed {
            try engine.resource(playlist.key).liveGeneration(for: playlist.request)?.assign(.endedPlaylist)
        }
    }

    /// A file that a playlist names.
    func member(at url: ResourceURL, isKey: Bool = false, role: StreamRole? = nil) -> FileDownload {
        let key = keyPolicy.key(for: url).inPartition(key.partition)
        // What lets the user in at one host is not for others.
        let own = url.isSameHost(as: request.url) ? request.fields : request.fields.filter { Self.isHarmless($0.name) }
        var member = OriginRequest(url: url, fields: cookies.adding(to: own, for: url))
        (member.networkPolicy, member.context.key, member.context.isForKey) = (request.networkPolicy, key, isKey)
        (member.demand, member.context.tally) = (request.demand, request.context.tally)
        let content: StreamContent? = isKey ? .key : role?.kind == .segment ? .media : nil
        return FileDownload(
            key: key, request: member, engine: engine, role: role, content: content, titles: [title], asOf: asOf)
    }

    /// Whether players send this field to other hosts as well: it names the client or the requesting page.
    private static func isHarmless(_ name: HTTPField.Name) -> Bool {
        name == .userAgent || name == .referer || name == .origin
    }

    /// Records that the stored ones of `keys` are files of the title.
    func note(_ keys: [CacheKey]) { engine.store?.recorder.note(keys, in: title, asOf: asOf) }

    /// Gives up the files that no stored playlist of the stream names any more.
    func giveUpUnnamed() async throws { try await engine.giveUpUnnamed(of: title, keyPolicy: keyPolicy) }

    /// Says of the outermost playlist whether it names playlists or segments.
    ///
    /// Without it a list of playlists would be believed in play, and name files that are missing while the origin is
    /// away.
    func assignRole(namesPlaylists: Bool) throws {
        try engine.resource(key).liveGeneration(for: request)?
            .assign(namesPlaylists ? .listOfPlaylists : .endedPlaylist)
    }
}

extension ResourceURL {
    /// Whether fields for one may be sent to the other.
    package func isSameHost(as other: ResourceURL) -> Bool {
        scheme == other.scheme && authority == other.authority
    }
}
