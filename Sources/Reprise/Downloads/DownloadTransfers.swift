/// What becomes of the transfers for downloads that go on without the program, where the origin has such.
struct DownloadTransfers: Sendable {
    /// Downloads that run at once: the system decides how many of them transfer, and a download that does not run has
    /// no transfers.
    static let width = 64

    private let origin: any BackgroundOrigin
    private let index: Index

    /// `nil` where nothing is transferred in the background.
    init?(_ engine: Engine?) {
        guard let origin = engine?.background, let index = engine?.store?.index else { return nil }
        (self.origin, self.index) = (origin, index)
    }

    /// What the client has to know of a request for `entry`, a file of the title of `key`.
    func errand(of key: CacheKey, entry: CacheKey) -> BackgroundErrand {
        BackgroundErrand(title: index.name(of: key), entry: index.name(of: entry))
    }

    /// What has come for `entry` and is not stored yet.
    func arrivedBytes(of entry: CacheKey) -> ArrivedBytes { origin.arrivedBytes(of: index.name(of: entry)) }

    /// Ends transfers that an earlier process began for what is no download any more, or does not go on by itself, and
    /// drops what has come for what is no download, or done.
    func keep(_ items: [DownloadQueue.Item]) {
        let running = items.filter { $0.isToBeFetched && !$0.waitsForHours }.map { index.name(of: $0.key) }
        // Before it is looked at whether all is dealt with.
        for item in items where item.isRunning { begin(item.key) }
        let others = items.filter { $0.isPaused || $0.waitsForHours }.map { index.name(of: $0.key) }
        origin.keepTransfers(running: Set(running), titles: Set(running + others))
    }

    /// Ends the transfers of downloads that wait for their hours.
    func pauseOutsideHours(_ items: [DownloadQueue.Item]) {
        for item in items where item.waitsForHours { pause(item.key) }
    }

    /// A download runs from now on.
    func begin(_ key: CacheKey) { origin.expectTransfers(of: index.name(of: key)) }

    /// A download may use these networks from now on.
    func confine(_ key: CacheKey, to policy: NetworkPolicy) {
        origin.endTransfers(of: index.name(of: key), notWithin: policy)
    }

    /// A download is paused; what has come is kept.
    func pause(_ key: CacheKey) { origin.pauseTransfers(of: index.name(of: key)) }

    /// A download is removed.
    func forget(_ key: CacheKey) { origin.forgetTransfers(of: index.name(of: key)) }

    /// A run has ended in `phase`, or with the removal of its download: what has come for one that is done or removed
    /// is of no use any more, and without room nothing more has to come.
    func settle(_ key: CacheKey, in phase: DownloadQueue.Phase?) {
        switch phase {
        case .done, nil: forget(key)
        case .failed: origin.endTransfers(of: index.name(of: key))
        case .paused, .waiting(.space, _): pause(key)
        case .queued, .waiting: origin.restTransfers(of: index.name(of: key))
        case .running: break
        }
    }
}
