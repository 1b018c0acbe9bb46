import Logging
import Reprise

/// Writes the events of a cache to the log of `serve`.
struct EventLog: Sendable {
    let logger: Logger

    /// Writes each event of `cache` until they end.
    func write(_ cache: MediaCache) async {
        for await event in cache.events() {
            if case .downloadEnded(let key, nil) = event {
                let download = await cache.downloads.list().first { $0.key == key }
                // At the start of a server, each download looks whether something of it is missing.
                let isNews = download.map { $0.storedBefore != $0.storedBytes } ?? true
                write(ended: key, nil, at: isNews ? .notice : .debug)
            } else {
                write(event)
            }
        }
    }

    private func write(ended key: CacheKey, _ error: RepriseError?, at level: Logger.Level) {
        let outcome = error.map { "\($0.code)" } ?? "done"
        var metadata: Logger.Metadata = ["key": "\(key.redacted)", "outcome": "\(outcome)"]
        if let status = error?.refusal?.head.status.code { metadata["status"] = "\(status)" }
        logger.log(level: level, "download ended", metadata: metadata)
    }

    private func write(_ event: CacheEvent) {
        switch event {
        case .storeBypassed(let key, let reason):
            // Without a key it concerns the whole cache.
            logger.log(
                level: key == nil ? .warning : .notice, "store bypassed", metadata: ["reason": "\(reason)"])
        case .storeReset(let reason):
            logger.warning("the cache starts empty", metadata: ["reason": "\(reason)"])
        case .preloadEstimated(let key, let reason):
            logger.debug("preload estimated", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
        case .downloadEnded(let key, let error): write(ended: key, error, at: .notice)
        case .verificationFailed(let key, let range):
            logger.notice("stored bytes were damaged", metadata: ["key": "\(key.redacted)", "range": "\(range)"])
        case .generationReplaced(let key, let reason):
            logger.notice("changed at the origin", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
        case .hostSplices(let key, let host):
            logger.notice("host splices", metadata: ["key": "\(key.redacted)", "host": "\(host)"])
        case .hostRemarked(let key, let host, let reason):
            logger.notice(
                "host remarked", metadata: ["key": "\(key.redacted)", "host": "\(host)", "reason": "\(reason)"])
        case .servedStale(let key, let reason):
            logger.notice("served stale", metadata: ["key": "\(key.redacted)", "reason": "\(reason)"])
        case .evicted(let key, let bytes):
            logger.info("evicted", metadata: ["key": "\(key.redacted)", "bytes": "\(bytes)"])
        case .fetchRetried(let key, let delay, let error):
            logger.info(
                "retrying", metadata: ["key": "\(key.redacted)", "after": "\(delay)", "error": "\(error.code)"])
        case .fetchStalled(let key, let position, let time):
            logger.warning(
                "fetch stalled and was given up",
                metadata: ["key": "\(key.redacted)", "position": "\(position)", "after": "\(time)"])
        case .fetchStarted(let key, let range):
            logger.debug("fetch started", metadata: ["key": "\(key.redacted)", "range": "\(range)"])
        case .fetchEnded(let key, let bytes, let error):
            let outcome = error.map { "\($0.code)" } ?? "done"
            logger.debug(
                "fetch ended", metadata: ["key": "\(key.redacted)", "bytes": "\(bytes)", "outcome": "\(outcome)"])
        case .readEnded(let key, let store, let joined, let origin):
            logger.debug(
                "read ended",
                metadata: [
                    "key": "\(key.redacted)", "store": "\(store)", "joined": "\(joined)", "origin": "\(origin)",
                ])
        }
    }
}
