import Reprise

/// One title with its files, as `title.json` has it.
struct TitleDetails: Encodable, Sendable {
    /// A stored file of a stream.
    struct File: Encodable, Sendable {
        let url: String
        let storedBytes: Int64
        let completeLength: Int64?
        let mediaType: String?
    }

    private enum Member: String, CodingKey { case remarks, tracks, list, listed }

    private let item: TitlesReport.Item
    /// What was noticed about its host: why something is not stored.
    private let remarks: [String]
    private let tracks: [StoredStream.Track]?
    /// The files of a stream that were used last, at most ``mostFiles`` of them, by URL.
    private let list: [File]?
    /// Number of all its files.
    private let listed: Int?

    private static let mostFiles = 200

    /// `nil` if nothing is known under `id`.
    init?(id: String, of service: ProxyService) async throws {
        let cache = service.cache
        guard let first = try await cache.reference(id: id), let item = try await cache.titleItems([first.key]).first
        else { return nil }
        let stream = try await cache.storedStreams([item])[item.title.key]
        self.item = TitlesReport.Item(item, stream: stream, at: service.wallClock())
        remarks = cache.hostRemarks.filter { $0.host == item.title.url.authority }.map(\.reason)
        tracks = stream?.tracks
        guard item.title.isStream else {
            (list, listed) = (nil, nil)
            return
        }
        listed = item.title.fileCount
        let files = try await cache.files(ofTitle: item.title.key, atMost: Self.mostFiles)
        list = files.sorted { $0.url.description < $1.url.description }.map { entry in
            File(
                url: entry.url.redacted, storedBytes: entry.storedBytes,
                completeLength: entry.information.completeLength, mediaType: entry.information.mediaType)
        }
    }

    func encode(to encoder: any Encoder) throws {
        try item.encode(to: encoder)
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(remarks, forKey: .remarks)
        try members.encodeIfPresent(tracks, forKey: .tracks)
        try members.encodeIfPresent(list, forKey: .list)
        try members.encodeIfPresent(listed, forKey: .listed)
    }
}
