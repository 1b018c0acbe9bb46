import Logging
import Playlists
import Reprise

/// What a server does and has done, as `status.json` says it.
///
/// Bytes; times in seconds since 1970; URLs as ``ShownURL`` writes them.
struct StatusReport: Encodable, Sendable {
    /// Sums, of this process or of the directory's whole life.
    struct Counts: Codable, Sendable, Equatable {
        let servedBytes, storeBytes, joinedBytes, originBytes, fetchedBytes, savedBytes: Int64
        let originRequests, reads: Int64

        init(_ statistics: CacheStatistics) {
            servedBytes = statistics.bytesServed
            storeBytes = statistics.bytesFromStore
            joinedBytes = statistics.bytesFromJoinedFetch
            originBytes = statistics.bytesFromOrigin
            fetchedBytes = statistics.bytesFetched
            savedBytes = statistics.bytesSaved
            originRequests = statistics.originRequests
            reads = statistics.reads
        }
    }

    /// The disk.
    struct Store: Encodable, Sendable {
        let storedBytes, mediaBytes, indexBytes, limitBytes: Int64
        let freeBytes: Int64?
        /// Whether anything can be stored.
        let isStoring: Bool
        /// Why not.
        let problem: String?
    }

    /// What was fetched from a host, and what readers got of its media, since the start.
    struct Host: Encodable, Sendable {
        /// With its port, unless that is the usual one; `other` for all hosts that are not among the busiest.
        let host: String
        let servedBytes, fetchedBytes: Int64
    }

    /// A file that is being read or fetched.
    struct Activity: Encodable, Sendable {
        let url: String
        /// Names it in other requests.
        let id: String
        let readers, fetches: Int
        let storedBytes: Int64
        /// Missing while unknown, and for a playlist, whose length is not the stream's.
        let completeLength: Int64?
        /// The stored parts, at most ``StatusReport/mostSpans`` of them: first byte and end.
        ///
        /// If there are more, parts with the narrowest holes between them are merged. Empty for a playlist.
        let spans: [[Int64]]
    }

    /// A title that clients play.
    struct Play: Encodable, Sendable {
        let url: String
        let id: String
        let name: String?
        let isStream: Bool
        /// Number of clients: of the same address, those with the same name count as one.
        let players: Int
        let storedBytes: Int64
        /// Of a file; missing while unknown.
        let completeLength: Int64?
        /// The stored parts of a file, as in ``Activity/spans``.
        let spans: [[Int64]]
        /// Of a stream, from 0 to 1; missing while unknown.
        let storedShare: Double?
    }

    /// What is fetched to stay.
    struct Download: Encodable, Sendable {
        let url: String
        let id: String
        let state: String
        let storedBytes: Int64
        let completeLength: Int64?
        let bytesPerSecond: Double?
        let fraction: Double
        /// Why it waits or has failed.
        let error: String?
    }

    /// What the server is called.
    let name: String
    let time: Double
    /// When the server began.
    let started: Double
    let sinceStart: Counts
    /// Missing while the index cannot be read.
    let overall: Counts?
    let store: Store
    /// The busiest first, `other` last.
    let hosts: [Host]
    /// Why responses of hosts are not stored, and other problems with hosts; oldest first.
    let remarks: [HostRemark]
    let connections, answers, listeners: Int
    /// Open connections to origins, and those among them that carry no request; missing if they are not counted.
    let originConnections, idleOriginConnections: Int?
    /// The titles that clients have read within the last half minute.
    let playing: [Play]
    /// The files that are being read or fetched.
    let active: [Activity]
    let downloads: [Download]
    let preloads: Int
    /// This server and those that it was told of; missing if it was told of none.
    let peers: PeersReport?
    let isOffline, isShared: Bool
    /// How much is logged.
    let logLevel: String
    let events: [EventReport]

    /// Most files and downloads that are listed.
    static let mostListed = 50
    /// Most parts of one file that are listed.
    static let mostSpans = 64

    /// What `service` does now.
    init(of service: ProxyService) async {
        let cache = service.cache
        let allocated = cache.allocatedBytes
        let lackOfRoom = await cache.lackOfRoom()
        let problem = cache.storeProblem?.message ?? lackOfRoom?.description
        name = service.configuration.name
        time = service.wallClock()
        started = service.control.started
        sinceStart = Counts(cache.statistics)
        // Also of a failing disk a client wants to know what goes on.
        overall = (try? await cache.lifetimeStatistics()).map(Counts.init)
        store = Store(
            storedBytes: cache.storedBytes, mediaBytes: allocated.media, indexBytes: allocated.index,
            limitBytes: cache.limit, freeBytes: cache.freeBytes, isStoring: cache.isStoring, problem: problem)
        hosts = Host.all(in: cache.tally.origins)
        remarks = cache.hostRemarks.suffix(Self.mostListed)
        (connections, answers) = (service.connections, service.answersUnderWay)
        let origins = service.configuration.originConnections?()
        (originConnections, idleOriginConnections) = (origins?.open, origins?.idle)
        listeners = service.control.events.listeners
        playing = (try? await Play.all(of: service)) ?? []
        active = cache.activities(atMost: Self.mostListed).map { Activity($0, in: cache) }
        downloads = await cache.downloads.list().prefix(Self.mostListed).map { Download($0, in: cache) }
        preloads = cache.preloads.list.count
        peers = PeersReport(of: service)
        (isOffline, isShared) = (cache.isOffline, cache.isShared)
        logLevel = service.configuration.logger.logLevel.rawValue
        events = service.control.events.recent
    }
}

extension StatusReport.Counts {
    /// What `counts` add up to.
    init(adding counts: [Self]) {
        func sum(_ count: KeyPath<Self, Int64>) -> Int64 { counts.reduce(0) { $0 + $1[keyPath: count] } }
        servedBytes = sum(\.servedBytes)
        storeBytes = sum(\.storeBytes)
        joinedBytes = sum(\.joinedBytes)
        originBytes = sum(\.originBytes)
        fetchedBytes = sum(\.fetchedBytes)
        savedBytes = sum(\.savedBytes)
        originRequests = sum(\.originRequests)
        reads = sum(\.reads)
    }

    var all: [Int64] {
        [servedBytes, storeBytes, joinedBytes, originBytes, fetchedBytes, savedBytes, originRequests, reads]
    }
}

extension StatusReport.Host {
    private init(_ host: String, _ counts: OriginCounts) {
        (self.host, servedBytes, fetchedBytes) = (host, counts.servedBytes, counts.bytes)
    }

    /// Those of which bytes came or were served.
    static func all(in hosts: BusiestHosts) -> [StatusReport.Host] {
        let named = hosts.named.sorted { ($1.value.weight, $0.key) < ($0.value.weight, $1.key) }
        return (named.map { Self($0.key, $0.value) } + [Self(MetricFigures.others, hosts.others)])
            .filter { $0.servedBytes + $0.fetchedBytes > 0 }
    }
}

extension StatusReport.Activity {
    init(_ activity: MediaCache.Activity, in cache: MediaCache) {
        (url, id) = (ShownURL.text(activity.url.redacted), cache.id(of: activity.key))
        (readers, fetches) = (activity.readers, activity.fetches)
        let isPlaylist = PlaylistFormat.isStreamDeclared(by: nil, name: activity.url.lastPathComponent)
        (storedBytes, completeLength) = (activity.stored.byteCount, isPlaylist ? nil : activity.completeLength)
        spans = isPlaylist ? [] : activity.stored.shownSpans(atMost: StatusReport.mostSpans)
    }
}

extension StatusReport.Play {
    /// A title of which nothing is stored.
    private init(_ title: TitleReference, players: Int, in cache: MediaCache) {
        (url, id, name, isStream) = (title.url.redacted, cache.id(of: title.key), nil, false)
        (self.players, storedBytes, completeLength, spans, storedShare) = (players, 0, nil, [], nil)
    }

    private init(_ item: TitlesReport.Item, players: Int) {
        (url, id, name, isStream) = (item.url, item.id, item.name, item.isStream)
        (self.players, storedBytes, completeLength) = (players, item.storedBytes, item.completeLength)
        (spans, storedShare) = (item.spans ?? [], item.storedShare)
    }

    /// How long the share of a stream that plays is told as it was: all its playlists are read for it.
    private static let sharesLast = Duration.seconds(20)

    /// What clients play, at most as much as is listed.
    fileprivate static func all(of service: ProxyService) async throws -> [StatusReport.Play] {
        let plays = await service.playedTitles().prefix(StatusReport.mostListed)
        let items = try await service.cache.titleItems(plays.map(\.title.key))
        let streams = try await service.streamShares.streams(
            items, at: service.configuration.clock.elapsed(), lasting: sharesLast
        ) { try await service.cache.storedStreams($0) }
        let now = service.wallClock()
        let stored = Dictionary(items.map { ($0.title.key, $0) }) { $1 }
        return plays.map { title, players in
            guard let item = stored[title.key] else {
                return StatusReport.Play(title, players: players, in: service.cache)
            }
            return StatusReport.Play(
                TitlesReport.Item(item, stream: streams[title.key], at: now), players: players)
        }
    }
}

extension StatusReport.Download {
    init(_ download: Reprise.Download, in cache: MediaCache) {
        (url, id) = (ShownURL.text(download.url.redacted), cache.id(of: download.key))
        state = download.yieldsToPlayback ? "waitingForPlayback" : download.state.word
        (storedBytes, completeLength) = (download.storedBytes, download.completeLength)
        (bytesPerSecond, fraction) = (download.bytesPerSecond, download.fraction)
        error = download.state.error?.explanation
    }
}

extension Download.State {
    /// Its name in JSON.
    var word: String {
        switch self {
        case .queued: "queued"
        case .running: "running"
        case .waiting(.network, _): "waitingForNetwork"
        case .waiting(.authorization, _): "waitingForAuthorization"
        case .waiting(.space, _): "waitingForSpace"
        case .waiting(.schedule, _): "waitingForHours"
        case .paused: "paused"
        case .done: "done"
        case .failed: "failed"
        }
    }
}
