/// What is told of downloads while they run: how fast they are, how far streams are, and which errors are no news.
struct DownloadFigures: Sendable {
    /// What the last run of a download has fetched.
    private struct Arrivals {
        let run: DownloadQueue.Run
        var bytes: Int64 = 0
        /// Bytes of the file that were stored when its fetch began; `nil` before.
        var storedBefore: Int64?
        /// `nil` once the run has ended.
        var rate: TransferRate?
    }

    private var arrivals: [CacheKey: Arrivals] = [:]
    private var streams: [CacheKey: StreamProgress] = [:]
    /// The last error that was told of each download that waits.
    private var told: [CacheKey: RepriseError.Code] = [:]
    /// The hours that were last recorded of downloads that wait for them.
    private var hours: [CacheKey: String] = [:]

    /// A run of the download begins.
    mutating func begin(_ run: DownloadQueue.Run, of key: CacheKey, at time: Duration) {
        arrivals[key] = Arrivals(run: run, rate: TransferRate(at: time))
        hours[key] = nil
    }

    /// The run has begun to fetch the file, of which so many bytes were stored.
    mutating func began(_ run: DownloadQueue.Run, of key: CacheKey, stored: Int64) {
        guard arrivals[key]?.run == run else { return }
        arrivals[key]?.storedBefore = stored
    }

    /// A download waits for its hours because of `error`; returns whether that is news.
    mutating func noteHours(of key: CacheKey, because error: RepriseError?) -> Bool {
        guard let message = error?.message else { return false }
        return hours.updateValue(message, forKey: key) != message
    }

    /// So many bytes have come in a run; of a stream, it is that far then.
    ///
    /// Does nothing for a run that has ended.
    mutating func note(
        _ count: Int, _ stream: StreamProgress?, of key: CacheKey, in run: DownloadQueue.Run, at time: Duration
    ) {
        guard var known = arrivals[key], known.run == run, known.rate != nil else { return }
        known.bytes += Int64(count)
        known.rate?.note(known.bytes, at: time)
        arrivals[key] = known
        if let stream { streams[key] = stream }
    }

    /// The run has ended; returns whether that is news: a further attempt that fails like the one before is none.
    mutating func end(_ run: DownloadQueue.Run, of key: CacheKey, with ending: DownloadQueue.Ending) -> Bool {
        if arrivals[key]?.run == run { arrivals[key]?.rate = nil }
        switch ending {
        case .canceled: return false
        case .done:
            told[key] = nil
            return true
        case .failed(let error): return told.updateValue(error.code, forKey: key) != error.code
        }
    }

    /// The download is another one now; `stream` is how far it is, as a stream.
    mutating func reset(_ key: CacheKey, to stream: StreamProgress?) { streams[key] = stream }

    /// There is no such download any more.
    mutating func remove(_ key: CacheKey) {
        arrivals[key] = nil
        streams[key] = nil
        told[key] = nil
        hours[key] = nil
    }

    /// How far it is, if it is a stream.
    func stream(_ key: CacheKey) -> StreamProgress? { streams[key] }

    /// Bytes that were stored before the last run in this process; `nil` while that is not known.
    func storedBefore(_ key: CacheKey) -> Int64? {
        guard let last = arrivals[key] else { return nil }
        guard let stream = streams[key] else { return last.storedBefore }
        return max(0, stream.storedBytes - last.bytes)
    }

    /// Bytes per second of a run; 0 for one that has ended.
    func bytesPerSecond(of key: CacheKey, at time: Duration) -> Double {
        arrivals[key]?.rate?.bytesPerSecond(at: time) ?? 0
    }
}
