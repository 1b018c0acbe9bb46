import ByteRanges
import HTTPSemantics
import MediaTiming
import Primitives

/// Stores one amount of one resource: of a file, or of a stream with its playlists.
struct PreloadRun: Sendable {
    private let stream: StreamFiles
    private let amount: PreloadAmount
    private let engine: Engine

    /// Bytes that are read first where it is not known how many are needed.
    private static let firstBytes: Int64 = 64 << 10

    /// `tally` counts what the origin sends.
    init(key: CacheKey, request: OriginRequest, amount: PreloadAmount, engine: Engine, tally: FetchTally? = nil) {
        var request = request
        (request.demand, request.context.tally) = (.preload, tally)
        stream = StreamFiles(
            key: key, request: request, engine: engine, keyPolicy: engine.configuration.keyPolicy)
        (self.amount, self.engine) = (amount, engine)
    }

    /// Fetches what is missing; throws as soon as it turns out that it cannot be stored.
    ///
    /// Returns which bytes of which files that is; of a file that belongs to it as a whole, ``ByteRangeSet/whole``.
    @discardableResult
    func fetch() async throws -> [CacheKey: ByteRangeSet] {
        guard !amount.isNothing else { return [:] }
        if case .range = amount { return [stream.key: try await store(extent, of: stream.first)] }
        try await engine.authorizer?.prepare(stream.request)
        let isOld = Mutex(false)
        do {
            return try await fetchListed(noting: isOld)
        } catch let error as RepriseError where error.code == .notDownloadable && isOld.withLock({ $0 }) {
            // The origin may have another playlist by now.
            try Task.checkCancellation()
            return try await fetchListed(noting: isOld, isValidating: true)
        }
    }

    /// Fetches the beginning of the file, or of what the playlists of the stream list; `isOld` becomes whether all that
    /// was read of the first file was stored before.
    ///
    /// With `isValidating`, the origin is asked whether a stored playlist is current, however fresh it is.
    private func fetchListed(
        noting isOld: Mutex<Bool>, isValidating: Bool = false
    ) async throws -> [CacheKey: ByteRangeSet] {
        let former = try await stream.storedPlaylist(stream.first)
        guard let read = try await openFirst(isValidating: isValidating) else { return [:] }
        defer { read.cancel() }
        if let planner = engine.configuration.streamPlanner, let limit = stream.textLimit(read.information) {
            let found = try await playlist(from: read, upTo: limit, planner: planner, noting: isOld)
            if let (document, fetched) = found {
                let isRenewed = stream.isRenewed(fetched, since: former)
                return try await fetchStream(of: document, isRenewed: isRenewed, planner: planner)
            }
            // It was read for its text, and is media after all.
            return [stream.key: try await rest()]
        }
        return [stream.key: try await fetchFile(from: read)]
    }

    /// The first read; `nil` for an empty file, of which there is nothing to store.
    private func openFirst(isValidating: Bool) async throws -> MediaRead? {
        var information: ContentInformation?
        do {
            let first = stream.first.validating(isValidating).withoutRanges(.keep)
            let read = try await first.open(firstCount.map { .bounded(0..<$0) })
            guard read.isOfEmptyFile else { return read }
            read.cancel()
            information = read.information
        } catch let error as RepriseError where error.code == .rangeNotSatisfiable {
            // A range from byte 0 lies outside of an empty file only (RFC 9110 §14.1.2).
        }
        let planner = engine.configuration.streamPlanner
        if let objection = planner?.objection(to: information, beginning: [], at: stream.request.url) {
            throw objection
        }
        return nil
    }

    private func fetchFile(from read: MediaRead) async throws -> ByteRangeSet {
        if case .seconds(let seconds) = extent {
            return try await store(seconds: seconds, of: stream.first, from: read)
        }
        try await drain(read, of: stream.first)
        return try await rest()
    }

    /// What is missing once the first read has ended.
    private func rest() async throws -> ByteRangeSet {
        switch extent {
        case .seconds: try await store(extent, of: stream.first)
        case .range(let range): ByteRangeSet(range)
        case .whole: .whole
        }
    }

    /// What of a file is stored.
    private var extent: StreamPart.Extent {
        switch amount {
        case .bytes(let count): .range(0..<count)
        case .seconds(let seconds): .seconds(seconds)
        case .segments(let count): .seconds(Double(count) * PreloadAmount.secondsPerSegment)
        case .range(let range): .range(range)
        case .all: .whole
        }
    }

    /// How many bytes are read first; `nil` for all.
    private var firstCount: Int64? {
        switch extent {
        case .range(let range): range.upperBound
        case .seconds: Self.firstBytes
        case .whole: nil
        }
    }

    // MARK: - Streams

    /// Stores the beginning of the stream whose outermost playlist is `document`.
    private func fetchStream(
        of document: StreamDocument, isRenewed: Bool, planner: any StreamPlanner
    ) async throws -> [CacheKey: ByteRangeSet] {
        var playlists: [CacheKey] = []
        var renewed = isRenewed ? [stream.first] : []
        let parts = try await planner.beginning(of: document, amount: amount) { url in
            let playlist = try await stream.playlist(at: url) { _ in }
            playlists.append(playlist.file.key)
            if playlist.isRenewed { renewed.append(playlist.file) }
            return playlist.text
        }
        guard let parts else { return [stream.key: .whole] }
        let members = parts.map { part in
            // Not as a key: one that its origin forbids to store is for downloads.
            var member = stream.member(at: part.file.url, role: .endedSegment)
            member.content = part.file.content
            return member
        }
        await stream.validate(members, renewed: renewed)
        // The files behind the beginning are still to be validated: a list that was renewed keeps saying so.
        if !isRenewed { try stream.assignRole(namesPlaylists: !playlists.isEmpty) }
        // Those that are stored already may belong to no title, or to another one.
        stream.note([stream.key] + playlists + members.map(\.key))
        let lists = Dictionary(([stream.key] + playlists).map { ($0, ByteRangeSet.whole) }) { one, _ in one }
        return lists.merging(try await store(parts, of: members)) { $0.union($1) }
    }

    /// Stores `parts`, each of one of `files`, one after the other: the first ones are needed first.
    private func store(_ parts: [StreamPart], of files: [FileDownload]) async throws -> [CacheKey: ByteRangeSet] {
        // Segments may be ranges of one file.
        var left: [CacheKey: ArraySlice<StreamPart.Extent>] = [:]
        for (part, file) in zip(parts, files) { left[file.key, default: []].append(part.extent) }
        var stored: [CacheKey: ByteRangeSet] = [:]
        for (part, file) in zip(parts, files) {
            guard let extent = left[file.key]?.popFirst() else { continue }
            do {
                let (bytes, hasAll) = try await store(extent, before: left[file.key] ?? [], of: file)
                if hasAll { left[file.key] = [] }
                stored[file.key, default: []].formUnion(bytes)
            } catch let error as RepriseError
                where part.file.isKey && (error.obstacle?.isOfResponse == true || error.code == .notDownloadable)
            {
                // The origin forbids storing the key, or sends it encoded, or to players only: the player asks for it.
            }
        }
        return stored
    }

    /// Stores `extent`, and the `later` extents of the same file if the file can only be fetched in order.
    ///
    /// They arrive with the same response, which would otherwise be requested again for each of them.
    private func store(
        _ extent: StreamPart.Extent, before later: ArraySlice<StreamPart.Extent>, of file: FileDownload
    ) async throws -> (bytes: ByteRangeSet, hasAll: Bool) {
        guard case .range(let range) = extent, !later.isEmpty else { return (try await store(extent, of: file), false) }
        let file = file.withoutRanges(.keep)
        let read = try await file.open(.bounded(range))
        defer { read.cancel() }
        let whole = try await file.whole(insteadOf: read)
        defer { whole?.cancel() }
        if whole == nil { try await drain(read, of: file) } else { try await store(.bounded(range), of: file) }
        var bytes = ByteRangeSet(range)
        guard file.comesInOrder else { return (bytes, false) }
        for extent in later { bytes.formUnion(try await store(extent, of: file)) }
        return (bytes, true)
    }

    /// The whole playlist that `read` begins, and whether it was renewed; `nil` if that is none.
    ///
    /// Most are as short as `read`, and a second read would ask the origin again. Throws ``RepriseError`` with code
    /// `notDownloadable` if it should be one, as its name or its media type says.
    private func playlist(
        from read: MediaRead, upTo limit: Int64, planner: any StreamPlanner, noting isOld: Mutex<Bool>
    ) async throws -> (StreamDocument, FileDownload.Fetched)? {
        var count = 0
        let bytes = try await stream.first.bytes(of: read, upTo: limit) { count += $0 }
        isOld.withLock { $0 = count == 0 }
        guard let bytes else { return nil }
        var fetched = FileDownload.Fetched(information: read.information, bytes: bytes)
        let isCut = firstCount == Int64(bytes.count) && read.information.completeLength != firstCount
        if isCut {
            let head = try await head(bytes)
            if let objection = planner.objection(to: read.information, beginning: head, at: stream.request.url) {
                if count > 0 { try await stream.first.drop() }
                throw objection
            }
            guard planner.beginsPlaylist(head) else { return nil }
            fetched = try await stream.first.fetch(returningUpTo: stream.textLimit) { _ in }
        }
        if let objection = stream.objection(to: fetched) {
            if count > 0 { try await stream.first.drop() }
            throw objection
        }
        guard planner.beginsPlaylist(fetched.bytes ?? []) else { return nil }
        return stream.document(fetched, from: stream.request.url).map { ($0, fetched) }
    }

    /// Enough of the beginning to recognize a playlist, where `bytes` is what an amount of few bytes brought.
    private func head(_ bytes: [UInt8]) async throws -> [UInt8] {
        guard bytes.count < Self.firstBytes else { return bytes }
        let read = try await stream.first.open(.bounded(0..<Self.firstBytes))
        defer { read.cancel() }
        return try await stream.first.bytes(of: read, upTo: Self.firstBytes) { _ in } ?? bytes
    }

    private func store(_ extent: StreamPart.Extent, of file: FileDownload) async throws -> ByteRangeSet {
        switch extent {
        case .whole: return try await store(nil, of: file)
        case .range(let range): return try await store(.bounded(range), of: file)
        case .seconds(let seconds):
            let read = try await file.withoutRanges(.keep).open(.bounded(0..<Self.firstBytes))
            defer { read.cancel() }
            return try await store(seconds: seconds, of: file, from: read)
        }
    }

    // MARK: - Bytes

    @discardableResult
    private func store(_ range: RangeSpec?, of file: FileDownload) async throws -> ByteRangeSet {
        let read = try await file.open(range)
        defer { read.cancel() }
        try await drain(read, of: file)
        return if case .bounded(let bytes)? = range { ByteRangeSet(bytes) } else { .whole }
    }

    private func drain(_ read: MediaRead, of file: FileDownload) async throws {
        while try await file.next(of: read) != nil {}
    }

    /// Stores what the first seconds need; `first` is a read of the first bytes.
    private func store(seconds: Double, of file: FileDownload, from first: MediaRead) async throws -> ByteRangeSet {
        let whole = try await file.whole(insteadOf: first)
        defer { whole?.cancel() }
        let start = try await WindowReader.start(of: file, first: whole ?? first, seconds: seconds)
        if start.basis != .exact {
            engine.reporter.tell(.preloadEstimated(file.key, reason: start.basis.reason(in: start.format)))
        }
        for span in start.ranges {
            try await store(.bounded(span), of: whole == nil ? file : file.withoutRanges(.keep))
        }
        guard let tail = start.tail, !tail.isEmpty, !file.comesInOrder else { return start.ranges }
        do {
            // Many players look there for the duration, or for tags.
            return start.ranges.union(try await store(.bounded(tail), of: file.withoutRanges(.fail)))
        } catch let error as RepriseError where error.code == .rangesUnsupported {
            return start.ranges
        }
    }
}

extension ByteRangeSet {
    /// All bytes of a file, however long it is.
    static let whole = ByteRangeSet(0..<Usage.most)
}
