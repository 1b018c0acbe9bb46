extension DownloadQueue {
    /// A task that fetches.
    typealias Run = UInt64

    /// What a download does.
    enum Phase: Sendable {
        case queued
        case running(Run)
        case waiting(Download.Obstacle, RepriseError)
        case paused
        case done
        case failed(RepriseError)
    }

    /// A download.
    struct Item: Sendable {
        let key: CacheKey
        var request: OriginRequest
        /// The name of its title.
        var name: String?
        /// What of it is fetched if it is a stream.
        var selection = StreamSelection()
        /// How the keys of a stream's files are derived; `nil` for the cache's own rule.
        var keyRule: KeyRule?
        var phase = Phase.queued
        /// Bytes stored when they were last counted.
        var storedBytes: Int64 = 0
        /// The complete length, if it was known then.
        var completeLength: Int64?
        /// Whether it was known to be a stream then, of which the first file is only a part.
        var isStream = false
        /// Number of waits in a row.
        var waits = 0
        /// When a wait ends by itself, by the monotonic clock; `nil` if it does not.
        var retryTime: Duration?
        /// Why it waited or failed last, also in an earlier process; `nil` once it was added, resumed or done.
        var lastError: RepriseError?
        /// Whether what runs is for an earlier selection, or counted as stored what has gone since.
        var isOutdated = false
        /// Whether it was added with other fields, such as credentials, since what runs began.
        var isRenewed = false
        /// Whether it runs at any hour, because a person resumed it outside of the hours for downloads.
        var ignoresHours = false
    }

    /// What must be done.
    enum Effect: Sendable {
        /// Fetch what is missing, as a task of that number.
        case start(Run, Item)
        /// End a task.
        case cancel(Run)
    }

    /// How a task ended.
    enum Ending: Sendable {
        case done
        /// It was canceled, or the cache is closing.
        case canceled
        case failed(RepriseError)
    }
}

extension DownloadQueue.Ending {
    /// ``RepriseError/takenByOthers`` of the failure; `nil` for other endings.
    var takenByOthers: Int64? { if case .failed(let error) = self { error.takenByOthers } else { nil } }
}

extension RepriseError {
    /// Bytes that were taken when other downloads under way left no room; `nil` for any other error.
    var takenByOthers: Int64? {
        if case .promised(_, let taken)? = obstacle { taken } else { nil }
    }
}

extension DownloadQueue.Item {
    /// When it goes on by itself; `nil` if it does not wait for a time.
    var timeToRetry: Duration? { if case .waiting = phase { retryTime } else { nil } }

    var isQueued: Bool { if case .queued = phase { true } else { false } }

    /// Whether it is being fetched.
    var isRunning: Bool { if case .running = phase { true } else { false } }

    /// Whether it waits for the hours in which downloads may run.
    var waitsForHours: Bool { if case .waiting(.schedule, _) = phase { true } else { false } }

    /// Whether all of it is stored.
    var isDone: Bool { if case .done = phase { true } else { false } }

    /// Whether it goes on only when a person says so.
    var isPaused: Bool { if case .paused = phase { true } else { false } }

    /// Whether it is neither paused nor done.
    var isToBeFetched: Bool {
        switch phase {
        case .queued, .running, .waiting, .failed: true
        case .paused, .done: false
        }
    }
}
