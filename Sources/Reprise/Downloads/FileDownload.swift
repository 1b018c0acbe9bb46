import ByteRanges
import HTTPSemantics
import MediaTiming

/// Fetches what is missing of one file, for the demand of its request.
struct FileDownload: Sendable {
    let key: CacheKey
    var request: OriginRequest
    let engine: Engine
    /// What a playlist says about the file.
    var role: StreamRole?
    /// The expected kind of content.
    var content: StreamContent?
    /// The bytes of it that are wanted; `nil` for all.
    var ranges: ByteRangeSet?
    /// The titles that it is a file of.
    var titles: [TitleReference] = []
    /// How many removals of titles there were when that was known.
    var asOf = 0
    /// Whether the origin is asked first if the stored response is current, however fresh it is.
    private(set) var isValidating = false

    /// The same file; with `isValidating`, the origin is asked first if the stored response is current, however fresh.
    ///
    /// Whatever comes of that, a stored response that is not replaced stays as usable as it was.
    func validating(_ isValidating: Bool) -> FileDownload {
        var file = self
        file.isValidating = isValidating
        return file
    }

    /// The same file; its reads do this where the origin ignores ranges.
    func withoutRanges(_ fallback: RangeFallback) -> FileDownload {
        var file = self
        file.request.context.rangeFallback = fallback
        return file
    }

    /// The same file; another representation that comes for a hole is left to the next read, through `successor`.
    func leaving(to successor: Successor) -> FileDownload {
        var file = self
        file.request.context.successor = successor
        return file
    }

    /// Whether fetching a byte requires fetching all bytes before it.
    ///
    /// That is the case if the origin is known to ignore ranges, or if no other response can be joined to the stored
    /// one.
    var comesInOrder: Bool {
        guard let generation = try? engine.resource(key).liveGeneration(for: request) else { return false }
        return generation.ask { $0.schedule.rangesSupported } == false || !generation.isJoinable
    }

    /// Opens a read of the whole file, kept for further reads, if nothing can be joined to the response of `read`.
    ///
    /// Returns `nil` otherwise. Drains `read` before opening the new one, because a response in use by a reader is not
    /// replaced.
    func whole(insteadOf read: MediaRead) async throws -> MediaRead? {
        guard let generation = try engine.resource(key).liveGeneration(for: request), !generation.isJoinable,
            generation.ask({ $0.schedule.rangesSupported }) == true, !generation.isStored(nil)
        else { return nil }
        while try await next(of: read) != nil {}
        read.cancel()
        return try await withoutRanges(.keep).open(nil)
    }

    /// What was read.
    struct Fetched: Sendable {
        let information: ContentInformation
        /// All bytes, where they were wanted.
        let bytes: [UInt8]?
    }

    /// Holes between the bytes that are wanted are fetched, too, up to this length: a request costs as much.
    private static let longestHole: Int64 = 64 << 10

    /// Reads all that is wanted, which fetches the missing bytes; `arrived` is told the length of each piece that
    /// was fetched.
    ///
    /// `began` is told how many bytes were stored when it began. Returns the bytes too if they are at most as many as
    /// `limit` says of the metadata. Throws as soon as it turns
    /// out that the bytes cannot be stored: no reader needs them.
    func fetch(
        returningUpTo limit: (ContentInformation) -> Int64? = { _ in nil }, began: (Int64) -> Void = { _ in },
        arrived: (Int) -> Void
    ) async throws -> Fetched {
        try await forgetOther()
        guard try await isForBackground(arrived: arrived), let errand else {
            return try await fetchMissing(returningUpTo: limit, began: began, arrived: arrived)
        }
        var file = self
        file.request.context.errand = errand
        defer { errand.end() }
        return try await withTaskCancellationHandler {
            try await file.fetchMissing(returningUpTo: limit, began: began, arrived: arrived)
        } onCancel: {
            errand.end()
        }
    }

    private func fetchMissing(
        returningUpTo limit: (ContentInformation) -> Int64?, began: (Int64) -> Void, arrived: (Int) -> Void
    ) async throws -> Fetched {
        let resource = try engine.resource(key)
        let promise = engine.promisedRoom.begin()
        defer { engine.promisedRoom.end(promise) }
        let count = try await missing(of: resource)
        try await checkTag(adding: count)
        try await take(promise, as: try await resource.stored(for: request)?.information)
        let spans = Array(ranges?.closingHoles(upTo: Self.longestHole) ?? [])
        // All come with one response where the origin ignores ranges.
        let first = spans.count > 1 ? withoutRanges(.keep) : self
        var read = try await first.open(spans.first.map { .bounded($0) }, storesOnlyWhole: ranges == nil)
        let whole = spans.count > 1 ? try await whole(insteadOf: read) : nil
        defer { whole?.cancel() }
        if whole != nil { read = try await first.open(.bounded(spans[0])) }
        defer { read.cancel() }
        if read.isOfEmptyFile { return Fetched(information: read.information, bytes: []) }
        began(read.storedBefore)
        let rest = try await missing(of: read)
        try await checkTag(adding: rest)
        try await checkRoom(for: read, missing: rest)
        try await take(promise, as: read.information)
        var isFetched = false
        let bytes = try await bytes(of: read, upTo: limit(read.information)) { count in
            isFetched = true
            arrived(count)
        }
        for span in spans.dropFirst() where span.lowerBound < read.information.completeLength ?? .max {
            try await first.fetch(span, of: read.information.generation) { count in
                isFetched = true
                arrived(count)
            }
        }
        if isFetched { resource.liveGeneration(for: request)?.noteUse() }
        try Task.checkCancellation()
        // Where the origin did not say how long it is, that is known now.
        if let objection = try await forgetOther() { throw objection }
        if let store = engine.store, let generation = resource.liveGeneration(for: request), !isWhole(generation) {
            throw await DiskQueue.shared.run { [read] in bypassed(read, in: store) }
        }
        return Fetched(information: read.information, bytes: bytes)
    }

    /// Fetches another part of the representation that is known as `generation`.
    private func fetch(_ span: Range<Int64>, of generation: String, arrived: (Int) -> Void) async throws {
        let read = try await open(.bounded(span))
        defer { read.cancel() }
        guard read.information.generation == generation else {
            throw RepriseError(.validatorChanged, "\(request.url.redacted) changed while it was downloaded.")
        }
        _ = try await bytes(of: read, upTo: nil, arrived: arrived)
    }

    // MARK: - In the background

    /// Bytes of a file that are asked for while the program runs, before it is left to a transfer in the background:
    /// they show its length and validators, and whether it is a playlist.
    private static let lookLength: Int64 = 64 << 10

    /// What a client that transfers in the background has to know.
    private var errand: BackgroundErrand? {
        DownloadTransfers(engine)?.errand(of: titles.first?.key ?? key, entry: key)
    }

    /// Whether the missing bytes may be transferred in the background: media of a download, neither a playlist nor a
    /// key, which are short and show what comes next, and none that is only validated.
    private func isForBackground(arrived: (Int) -> Void) async throws -> Bool {
        guard DownloadTransfers(engine) != nil, isKept, !request.context.isForKey, !isValidating else { return false }
        if let role { return role.kind == .segment }
        let resource = try engine.resource(key)
        if let known = try await resource.stored(for: request) {
            return try await mayBeTransferred(known)
        }
        try await look(arrived: arrived)
        guard let known = try await resource.stored(for: request) else { return false }
        if known.record.identity.validators.ifRangeValue == nil, !isWhole(known) {
            // Nothing can be joined to these bytes, so the whole comes at once.
            await engine.forget(known, under: key)
        }
        return try await mayBeTransferred(known)
    }

    /// Whether something is missing of a file that is no playlist.
    private func mayBeTransferred(_ known: Generation) async throws -> Bool {
        guard !isWhole(known) else { return false }
        guard let planner = engine.configuration.streamPlanner else { return true }
        if planner.isDeclaredStream(known.information, at: request.url) { return false }
        guard planner.mayBePlaylist(known.information, at: request.url) else { return true }
        return planner.beginsPlaylist(try await storedBeginning()) == false
    }

    /// Fetches the first bytes of a file of which nothing is known.
    private func look(arrived: (Int) -> Void) async throws {
        do {
            let read = try await open(.bounded(0..<Self.lookLength), storesOnlyWhole: true)
            defer { read.cancel() }
            while let piece = try await next(of: read) {
                if !read.lastPieceWasStored { arrived(piece.count) }
            }
        } catch let error as RepriseError where error.code == .rangeNotSatisfiable {
            // It is empty: the request for the whole says so.
        }
    }

    /// Reads to the end of `read`; returns the bytes if they are at most `most`, and none for `nil`.
    func bytes(of read: MediaRead, upTo most: Int64?, arrived: (Int) -> Void) async throws -> [UInt8]? {
        var bytes: [UInt8]? = most == nil ? nil : []
        while true {
            let count: Int
            if let known = bytes?.count {
                guard let more = try await nextBytes(of: read) else { break }
                count = more.count
                if Int64(known + count) > most ?? 0 { bytes = nil } else { bytes?.append(contentsOf: more) }
            } else {
                guard let piece = try await next(of: read) else { break }
                count = piece.count
            }
            if !read.lastPieceWasStored { arrived(count) }
        }
        return bytes
    }

    /// Begins a read of bytes that must be stored; throws ``RepriseError`` with code `notStored` if they must not be.
    ///
    /// Of a title's first file that is empty there are no bytes to store. What a playlist names may be empty only if a
    /// validator comes with it: otherwise a failing origin would make a download whole.
    func open(_ range: RangeSpec?, storesOnlyWhole: Bool = false) async throws -> MediaRead {
        let range = try range?.checked
        guard engine.store != nil else { throw RepriseError(.storageUnavailable, "There is no store.") }
        try await forgetOther()
        let read = try await engine.resource(key).open(
            ReadRequest(
                range: range, origin: request, isValidating: isValidating, storesOnlyWhole: storesOnlyWhole,
                needsStore: true, isUse: isUse, role: role, content: content, titles: titles, asOf: asOf))
        if !read.isOfEmptyFile, let objection = objection(to: read.information) {
            read.cancel()
            // Another reader may have had it stored.
            try await forgetOther()
            throw objection
        }
        guard read.passedThrough == nil || read.isOfEmptyFile && titles.isEmpty else {
            read.cancel()
            throw unstorable(read)
        }
        return read
    }

    /// The next piece of a read that ``open(_:storesOnlyWhole:)`` began; throws as soon as its bytes bypass the store.
    func next(of read: MediaRead) async throws -> MediaPiece? {
        try await checking(read) { try await read.next() }
    }

    /// As ``next(of:)``, with the bytes of the piece.
    func nextBytes(of read: MediaRead) async throws -> [UInt8]? {
        try await checking(read) { try await read.nextBytes() }
    }

    /// Takes a step of `read`; throws what keeps its bytes from being stored, if that ends it.
    private func checking<T>(_ read: MediaRead, _ step: () async throws -> T) async throws -> T {
        try await check(read)
        do { return try await step() } catch {
            try await check(read)
            throw error
        }
    }

    private func check(_ read: MediaRead) async throws {
        if read.isPastStore, !read.isOfEmptyFile, let store = engine.store {
            throw await DiskQueue.shared.run { bypassed(read, in: store) }
        }
        if isKept, let store = engine.store, store.tagKeeper.hasOverfull {
            try await store.index.look { try $0.titles.checkRoom(for: 0, inTitleOf: titles.first?.key ?? key) }
        }
        try Task.checkCancellation()
    }

    /// The error for a file whose metadata doesn't match the expected content; `nil` if it matches.
    private func objection(to information: ContentInformation) -> RepriseError? {
        engine.objection(to: information, as: content, at: request.url)
    }

    /// Drops the stored response because its bytes are not the expected content.
    func drop() async throws {
        guard let generation = try engine.resource(key).liveGeneration(for: request) else { return }
        await engine.forget(generation, under: key)
    }

    /// Drops a stored response with unexpected content, so that it is fetched again; returns the error.
    @discardableResult private func forgetOther() async throws -> RepriseError? {
        guard content != nil, let generation = try await engine.resource(key).stored(for: request),
            let objection = objection(to: generation.information)
        else { return nil }
        // A player that is reading it must not be broken off.
        if !generation.isBeingFilled { await engine.forget(generation, under: key) }
        return objection
    }

    /// How many bytes are stored, and whether all that are wanted are, and may be used without asking the origin first;
    /// it is not asked.
    func stored() async throws -> (byteCount: Int64, isWhole: Bool) {
        guard let generation = try await engine.resource(key).stored(for: request),
            objection(to: generation.information) == nil
        else { return (0, false) }
        let isInvalidated = generation.record.isInvalidated
        return (generation.storedRanges.byteCount, isWhole(generation) && !isInvalidated)
    }

    /// The stored bytes and the metadata, if all is stored; the origin is not asked.
    func readStored() async throws -> Fetched? {
        guard try await stored().isWhole else { return nil }
        return try await readStored(nil)
    }

    /// The first stored bytes, enough to recognize a playlist, without a request to the origin.
    func storedBeginning() async throws -> [UInt8] { try await readStored(.bounded(0..<4096))?.bytes ?? [] }

    private func readStored(_ range: RangeSpec?) async throws -> Fetched? {
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        do {
            let read = try await engine.resource(key).open(
                ReadRequest(
                    range: range, origin: request, directives: directives, mayBreakOff: range != nil, isUse: isUse))
            defer { read.cancel() }
            var bytes: [UInt8] = []
            while let more = try await read.nextBytes() { bytes += more }
            return Fetched(information: read.information, bytes: bytes)
        } catch let error as RepriseError where error.code == .notStored {
            return nil
        }
    }

    /// Whether the bytes stay until they are removed, and so count among those that are never evicted.
    var isKept: Bool { request.demand == .download }

    /// Whether reading it counts as a use, whatever comes of it.
    private var isUse: Bool { request.demand != .download }

    /// Whether all is stored that is wanted.
    private func isWhole(_ generation: Generation) -> Bool {
        let (information, stored) = generation.content
        return wanted(of: information)?.subtracting(stored).isEmpty == true
    }

    /// The bytes that are wanted; `nil` for all of a file of unknown length.
    func wanted(of information: ContentInformation) -> ByteRangeSet? {
        StreamFile(url: request.url, ranges: ranges).bytes(ofLength: information.completeLength)
    }

    /// Why a response must not be stored.
    private func unstorable(_ read: MediaRead) -> RepriseError {
        if read.isOfEmptyFile {
            return RepriseError(.originMisbehaved, "The origin sent nothing in place of \(request.url.redacted).")
        }
        // A page that asks for a log-in forbids storing as a rule.
        let planner = engine.configuration.streamPlanner
        if let objection = planner?.objection(to: read.information, beginning: nil, at: request.url) {
            return objection
        }
        let obstacle = read.obstacle(at: request.url)
        var error = RepriseError(.notStored, obstacle.description)
        error.obstacle = obstacle
        return error
    }
}
