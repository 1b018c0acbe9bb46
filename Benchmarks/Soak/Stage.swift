/// The state shared by the clients of one stage.
struct Stage: Sendable {
    let library: Library
    let origins: [FaultyOrigin]
    /// The port of the server under test.
    let port: Int
    let tally = Tally()
    /// Bytes received by clients; `nil` if they are not counted.
    let wanted: DistinctBytes?
    let tags = TagBook()
    let ending: Ending
    let watchdog: Watchdog
    /// Bytes per second that one client plays on average.
    let meanRate: Double
    /// Whether hostile playlists are requested.
    let isHostile: Bool
    /// Whether only files are requested whose every byte should come from the origin once.
    var isPlain: Bool { wanted != nil }

    /// How long a response may suffer from an earlier fault, in seconds.
    static let aftermath = 15.0

    /// Body bytes that the origins sent.
    var originBytes: Int64 { origins.reduce(0) { $0 + $1.counts.bytes } }

    /// When the origin of a file was last at fault or down, in seconds of uptime; infinite while it is.
    func lastTrouble(_ file: MediaFile?) -> Double {
        max(file?.lastTrouble ?? -.infinity, origins[file?.origin ?? 0].lastTrouble)
    }

    /// Why a response to `ask` ended early; `version` is that of its bytes.
    ///
    /// The version of several parts is not known: stored ones may be of any earlier version.
    func reason(_ ask: Ask, version: Int?, hasParts: Bool = false) -> Tally.Reason {
        let now = Uptime.seconds
        let since = max(ask.sent - Self.aftermath, now - Self.aftermath)
        // Requests for missing files go to the first origin.
        guard let file = ask.file else { return origins[0].wasAway(since: since) ? .restart : .unexplained }
        if file.hadFault(since: since) { return .fault }
        if origins[file.origin].wasAway(since: since) { return .restart }
        let current = file.version(at: now)
        if let version, version != current { return .change }
        if version == nil, file.version(at: hasParts ? 0 : since) != current { return .change }
        return file.kind.isJoinable ? .unexplained : .unjoinable
    }
}
