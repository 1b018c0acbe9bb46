import Reprise
import RepriseProxy

/// Pauses, resumes and moves downloads, and lists them.
struct DownloadsOperation: ControlOperation {
    static let name = "downloads"

    /// URLs or identifiers of downloads to pause, and of those that may go on.
    let pause, resume: [String]
    /// URL of the download to move before all others.
    let first: String?
    let names: Names

    struct Outcome: Codable, Sendable {
        struct Item: Codable, Sendable {
            /// With its query; without user and password.
            let url: String
            /// Identifies it among all downloads.
            var id: String?
            /// Without its query, for people.
            let shown: String
            let state: String
            let storedBytes: Int64
            let completeLength: Int64?
            /// Of a stream.
            let storedFiles, files: Int?
            /// Why it waits or has failed, or did so last.
            var trouble: DownloadTrouble?
        }

        let downloads: [Item]

        /// With `isFetching`, states are those of downloads that may run.
        init(
            _ downloads: [Download], isFetching: Bool, in cache: MediaCache? = nil,
            troubles: [CacheKey: DownloadTrouble] = [:]
        ) {
            self.downloads = downloads.map { download in
                var item = Item(download, isFetching: isFetching)
                item.id = cache?.id(of: download.key)
                item.trouble = troubles[download.key]
                return item
            }
        }
    }

    /// Whether it changes nothing.
    var onlyLists: Bool { pause.isEmpty && resume.isEmpty && first == nil }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        let known = Set(await cache.downloads.list().map(\.key))
        func key(_ url: String) async throws -> CacheKey {
            let key = try await names.resource(of: url, in: cache).key
            guard known.contains(key) else {
                throw RepriseError(
                    .notStored, "\(URLText.redacted(url)) is no download. To begin it: reprise download URL")
            }
            return key
        }
        // All are looked up before the first is changed.
        var (paused, resumed): ([CacheKey], [CacheKey]) = ([], [])
        for url in pause { paused.append(try await key(url)) }
        for url in resume { resumed.append(try await key(url)) }
        var moved: CacheKey?
        if let first { moved = try await key(first) }
        for key in paused { try await cache.downloads.pause(key) }
        for key in resumed { try await cache.downloads.resume(key) }
        if let moved { try await cache.downloads.move(moved, before: await cache.downloads.list().first?.key) }
        let downloads = await cache.downloads.list()
        var troubles: [CacheKey: DownloadTrouble] = [:]
        for download in downloads {
            let resource = try cache.resource(for: download.url, key: download.key)
            troubles[download.key] = await DownloadTrouble(download, at: resource)
        }
        return Outcome(downloads, isFetching: cache.resumesDownloads, in: cache, troubles: troubles)
    }
}

extension DownloadsOperation.Outcome.Item {
    fileprivate init(_ download: Download, isFetching: Bool) {
        url = URLText.withoutCredentials("\(download.url)")
        shown = download.url.redacted
        state = download.yieldsToPlayback ? "waiting" : Self.word(download.state, isFetching: isFetching)
        (storedBytes, completeLength) = (download.storedBytes, download.completeLength)
        (storedFiles, files) = (download.files?.stored, download.files?.all)
    }

    /// While no command fetches, what would run or wait is queued.
    private static func word(_ state: Download.State, isFetching: Bool) -> String {
        switch state {
        case .paused: "paused"
        case .done: "done"
        case .running where isFetching: "running"
        case .waiting where isFetching: "waiting"
        case .failed where isFetching: "failed"
        case .queued, .running, .waiting, .failed: "queued"
        }
    }
}
