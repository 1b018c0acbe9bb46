/// A download as ``Downloads`` knows it: what is fetched to stay, and how far it is.
public struct Download: Sendable, Identifiable {
    /// What a download does, or waits for.
    public enum State: Sendable {
        /// Its turn has not come: ``MediaCache/Configuration/maximumDownloads`` others run.
        case queued
        /// Bytes are being fetched, or it is being looked up what is missing.
        case running
        /// It cannot go on now, for the reason in the error; it goes on by itself, or after
        /// ``Downloads/resume(_:)``, as ``Obstacle`` says.
        case waiting(Obstacle, RepriseError)
        /// It was paused. Its bytes stay stored.
        case paused
        /// All its bytes are stored.
        case done
        /// It ended with an error that waiting does not help, such as a file that is larger than the limit or the disk.
        /// It is tried again after ``Downloads/resume(_:)``, and when the cache is next opened; for lack of room also
        /// when the limit changes or entries are removed.
        case failed(RepriseError)
    }

    /// What a download waits for.
    public enum Obstacle: Sendable, Hashable {
        /// The network, or an origin that cannot be reached, times out, or says that it is busy; tried again after 5
        /// seconds, later less often, at least every 5 minutes.
        case network
        /// The origin wants to know who asks (401, 403, 407). Goes on when it is added with other fields, or resumed.
        case authorization
        /// Room under the limit, or on the disk, beside what is kept and what is on its way for other downloads; tried
        /// again like ``network``, when another download has ended, and when the limit changes or entries are removed.
        case space
        /// The hours in which downloads may run (``Downloads/window``); goes on by itself when they begin, and not
        /// sooner.
        case schedule
    }

    /// The key of its entry.
    public let key: CacheKey
    /// The URL that is asked for it.
    public let url: ResourceURL
    /// The name of its title; `nil` if none was given.
    public let name: String?
    /// What it does.
    public let state: State
    /// Why it waited or failed last, also before the cache was opened.
    ///
    /// `nil` if that has not happened since it was added or resumed, and when it is done.
    /// From before the opening, the error has its code and its message, and a refusal its status.
    public let lastError: RepriseError?
    /// Bytes of it on disk.
    public let storedBytes: Int64
    /// Its length in bytes; `nil` while unknown, of a stream until all is stored.
    public let completeLength: Int64?
    /// Bytes that were stored before its run, or the one with which it ended in this process; `nil` while that is not
    /// known.
    package let storedBefore: Int64?
    /// Bytes per second that arrived in the last five seconds; `nil` unless it is running.
    public let bytesPerSecond: Double?
    /// Whether it runs, and gives way to a player that waits for bytes of the same origin.
    package internal(set) var yieldsToPlayback = false
    /// Which networks it may use.
    public let networkPolicy: NetworkPolicy
    /// Of a stream, how many of its files are stored; `nil` for a single file, and while the playlists are not known.
    public let files: FileCount?
    /// What is downloaded if it is a stream.
    public let selection: StreamSelection
    /// How the keys of a stream's files are derived, as recorded when it was added; `nil` for the cache's own rule.
    package let keyRule: KeyRule?

    /// A number of files of a stream: playlists, segments and keys.
    public struct FileCount: Sendable, Hashable {
        /// Those that are on disk as wholes.
        public let stored: Int
        /// All that the download consists of.
        public let all: Int
    }

    /// The key: there is one download for each.
    public var id: CacheKey { key }

    /// Whether it is stored as a whole.
    public var isDone: Bool { if case .done = state { true } else { false } }

    /// The stored fraction, 0 to 1, of a stream by its files; 0 while the length is unknown.
    public var fraction: Double {
        if isDone { return 1 }
        if let files { return Double(files.stored) / Double(max(files.all, 1)) }
        guard let completeLength, completeLength > 0 else { return 0 }
        return min(Double(storedBytes) / Double(completeLength), 1)
    }
}

extension Download {
    /// A stream with so many files; one of which nothing is missing is done.
    package init(_ stream: Download, storedFiles: Int, missingFiles: Int, storedBytes: Int64) {
        (key, url, networkPolicy, selection) = (stream.key, stream.url, stream.networkPolicy, stream.selection)
        name = stream.name
        keyRule = stream.keyRule
        (self.storedBytes, storedBefore, bytesPerSecond) = (storedBytes, stream.storedBefore, nil)
        completeLength = missingFiles == 0 ? storedBytes : nil
        files = FileCount(stored: storedFiles, all: storedFiles + missingFiles)
        if case .queued = stream.state, missingFiles == 0 {
            (state, lastError) = (.done, nil)
        } else {
            (state, lastError) = (stream.state, stream.lastError)
        }
    }

    init(
        _ item: DownloadQueue.Item, stream: StreamProgress?, bytesPerSecond: Double? = nil, storedBefore: Int64? = nil
    ) {
        (key, url, networkPolicy) = (item.key, item.request.url, item.request.networkPolicy)
        name = item.name
        (storedBytes, completeLength) = (item.storedBytes, item.completeLength)
        (self.storedBefore, self.bytesPerSecond) = (storedBefore, bytesPerSecond)
        files = stream.map { FileCount(stored: $0.storedFiles, all: $0.files) }
        (selection, keyRule, lastError) = (item.selection, item.keyRule, item.lastError)
        state =
            switch item.phase {
            case .queued: .queued
            case .running: .running
            case .waiting(let obstacle, let error): .waiting(obstacle, error)
            case .paused: .paused
            case .done: .done
            case .failed(let error): .failed(error)
            }
    }
}

extension Download.State {
    /// Why it waits or has failed.
    public var error: RepriseError? {
        switch self {
        case .waiting(_, let error), .failed(let error): error
        case .queued, .running, .paused, .done: nil
        }
    }
}

extension Download.Obstacle {
    /// What `error` waits for; `nil` if waiting does not help.
    init?(_ error: RepriseError) {
        switch error.code {
        case .networkUnavailable, .originUnreachable, .originNotFound, .originTimedOut, .originBodyTruncated:
            self = .network
        case .storageFull:
            if error.obstacle?.isOfItsSize == true { return nil }
            self = .space
        case .originRefused:
            guard let refusal = error.refusal else { return nil }
            if refusal.isTransient {
                self = .network
            } else if [401, 403, 407].contains(refusal.head.status.code) {
                self = .authorization
            } else {
                return nil
            }
        default: return nil
        }
    }
}
