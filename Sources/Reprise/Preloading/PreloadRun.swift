import ByteRanges
import HTTPSemantics
import MediaTiming

/// Stores one amount of one resource: of a file, or of a stream with its playlists.
struct PreloadRun: Sendable {
    private let stream: StreamFiles
    private let amount: PreloadAmount
    private let engine: Engine
    /// Told the length of each piece that the origin sent.
    private let arrived: @Sendable (Int) -> Void

    /// Bytes that are read first where it is not known how many are needed.
    private static let firstBytes: Int64 = 64 << 10

    init(
        key: CacheKey, request: OriginRequest, amount: PreloadAmount, engine: Engine,
        arrived: @escaping @Sendable (Int) -> Void = { _ in }
    ) {
        var request = request
        request.demand = .preload
        stream = StreamFiles(key: key, request: request, engine: engine)
        (self.amount, self.engine, self.arrived) = (amount, engine, arrived)
    }

    /// Fetches what is missing; throws as soon as it turns out that it cannot be stored.
    ///
    /// Returns which bytes of which files that is; of a file that belongs to it as a whole, ``ByteRangeSet/whole``.
    @discardableResult
    func fetch() async throws -> [CacheKey: ByteRangeSet] {
        guard !amount.isNothing else { return [:] }
        if case .range(let range) = amount {
            return [stream.key: try await store(.bounded(range), of: stream.first)]
        }
        try await engine.authorizer?.prepare(stream.request)
        let read = try await stream.first.open(firstCount.map { .bounded(0..<$0) })
        defer { read.cancel() }
        if stream.textLimit(read.information) != nil { return try await fetchStream(from: read) }
        return [stream.key: try await fetchFile(from: read)]
    }

    private func fetchFile(from read: MediaRead) async throws -> ByteRangeSet {
        switch amount {
        case .seconds(let seconds): return try await store(seconds: seconds, of: stream.first, from: read)
        case .segments(let count):
            return try await store(
                seconds: Double(count) * PreloadAmount.secondsPerSegment, of: stream.first, from: read)
        case .bytes, .range, .all:
            try await drain(read, of: stream.first)
            return firstCount.map { ByteRangeSet(0..<$0) } ?? .whole
        }
    }

    /// How many bytes are read first; `nil` for all.
    private var firstCount: Int64? {
        switch amount {
        case .bytes(let count): count
        case .seconds, .segments: Self.firstBytes
        case .range, .all: nil
        }
    }

    // MARK: - Streams

    /// Stores the beginning of a stream, of whose first file `read` is a read; all of the file if it is no playlist.
    private func fetchStream(from read: MediaRead) async throws -> [CacheKey: ByteRangeSet] {
        guard let planner = engine.configuration.streamPlanner,
            let document = stream.document(try await firstFile(from: read), from: stream.request.url)
        else { return [stream.key: .whole] }
        var playlists: [CacheKey] = []
        let parts = try await planner.beginning(of: document, amount: amount) { url in
            let (key, text) = try await stream.playlist(at: url, arrived: arrived)
            playlists.append(key)
            return text
        }
        guard let parts else { return [stream.key: .whole] }
        try stream.assignRole(namesPlaylists: !playlists.isEmpty)
        let members = parts.map { stream.member(at: $0.file.url, role: .endedSegment) }
        // Those that are stored already may belong to no title, or to another one.
        engine.store?.recorder.note([stream.key] + playlists + members.map(\.key), in: stream.title)
        var stored = Dictionary(([stream.key] + playlists).map { ($0, ByteRangeSet.whole) }) { one, _ in one }
        // One after the other: the first ones are needed first.
        for (part, member) in zip(parts, members) {
            do {
                // Segments may be ranges of one file.
                stored[member.key, default: []].formUnion(try await store(part.extent, of: member))
            } catch let error as RepriseError
                where error.code == .notStored && part.file.isKey
            {
                // The origin forbids storing the key: the player asks for it.
            }
        }
        return stored
    }

    /// The whole first file: most playlists are as short as `read`, and a second read would ask the origin again.
    private func firstFile(from read: MediaRead) async throws -> FileDownload.Fetched {
        let bytes = try await stream.first.bytes(
            of: read, upTo: stream.textLimit(read.information), arrived: arrived)
        if let count = firstCount, let bytes, bytes.count == count, read.information.completeLength != count {
            return try await stream.first.fetch(returningUpTo: stream.textLimit, arrived: arrived)
        }
        return FileDownload.Fetched(information: read.information, bytes: bytes)
    }

    private func store(_ extent: StreamPart.Extent, of file: FileDownload) async throws -> ByteRangeSet {
        switch extent {
        case .whole: return try await store(nil, of: file)
        case .range(let range): return try await store(.bounded(range), of: file)
        case .seconds(let seconds):
            let read = try await file.open(.bounded(0..<Self.firstBytes))
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
        while let piece = try await file.next(of: read) {
            if !read.lastPieceWasStored { arrived(piece.count) }
        }
    }

    /// Stores what the first seconds need; `first` is a read of the first bytes.
    private func store(seconds: Double, of file: FileDownload, from first: MediaRead) async throws -> ByteRangeSet {
        let start = try await WindowReader.start(of: file, first: first, seconds: seconds, arrived: arrived)
        if start.basis != .exact {
            engine.reporter.tell(.preloadEstimated(file.key, reason: start.basis.reason(in: start.format)))
        }
        for span in start.ranges { try await store(.bounded(span), of: file) }
        // Many players look there for the duration, or for tags.
        if let tail = start.tail, !tail.isEmpty { try await store(.bounded(tail), of: file) }
        return ByteRangeSet(Array(start.ranges) + [start.tail].compactMap { $0 }.filter { !$0.isEmpty })
    }
}

extension ByteRangeSet {
    /// All bytes of a file, however long it is.
    static let whole = ByteRangeSet(0..<Usage.most)
}
