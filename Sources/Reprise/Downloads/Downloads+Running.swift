import Primitives

/// The tasks of downloads that run, and the timer of those that wait.
extension Downloads {
    /// Makes the task of a run, which begins when the returned promise is fulfilled.
    func launch(_ run: DownloadQueue.Run, of item: DownloadQueue.Item, in state: inout State) -> Promise<Void> {
        state.figures.begin(run, of: item.key, at: clock.elapsed())
        let turn = Promise<Void>()
        let task = Task(priority: .userInitiated) { [weak self] in
            await turn.value
            let ending = await self?.run(run, of: item) ?? .canceled
            await self?.end(run, of: item.key, with: ending)
        }
        state.runs[run] = (item.key, task)
        return turn
    }

    /// One timer for all downloads that wait for a time: without a network, these may be thousands.
    func setTimer(in state: inout State, _ effects: inout [Effect]) {
        let time = state.queue.nextRetry
        guard time != state.timer?.time else { return }
        if let former = state.timer?.task { effects.append(.cancel(former)) }
        state.timer = time.map { time in
            let task = Task { [weak self, clock] in
                do { try await clock.sleep(max(.zero, time - clock.elapsed())) } catch { return }
                self?.retry(since: time)
            }
            return (time: time, task: task)
        }
    }

    private func retry(since time: Duration) {
        let now = max(time, clock.elapsed())
        apply { $0.retry(at: now) }
    }

    private func run(_ run: DownloadQueue.Run, of item: DownloadQueue.Item) async -> DownloadQueue.Ending {
        guard let engine else { return .canceled }
        do {
            let began: @Sendable (Int64) -> Void = { [weak self] stored in
                self?.state.withLock { $0.figures.began(run, of: item.key, stored: stored) }
            }
            try await DownloadRun(item, engine: engine, began: began) { [weak self] count, stream in
                self?.note(count, stream, of: item.key, in: run)
            }.fetch()
            return .done
        } catch is CancellationError {
            // Paused, removed, or the cache is closing: bytes that arrived are kept.
            return .canceled
        } catch {
            return .failed(error as? RepriseError ?? RepriseError(.storageUnavailable, "\(error)"))
        }
    }

    private func note(
        _ count: Int, _ stream: StreamProgress?, of key: CacheKey, in run: DownloadQueue.Run
    ) {
        let now = clock.elapsed()
        state.withLock { $0.figures.note(count, stream, of: key, in: run, at: now) }
        board.changed(Self.signal)
    }

    private func end(_ run: DownloadQueue.Run, of key: CacheKey, with ending: DownloadQueue.Ending) async {
        let item = state.withLock { $0.item(key) }
        let stored = item.flatMap { storedBytes(of: $0) }
        let (now, taken) = (clock.elapsed(), engine?.takenRoom ?? .max)
        var isNews = false
        let reported = Promise<Void>()
        update { state, effects in
            if let stream = state.figures.stream(key) {
                state.queue.note(key, storedBytes: stream.storedBytes, completeLength: stream.completeLength)
            } else if let stored {
                state.queue.note(key, storedBytes: stored.0, completeLength: stored.1)
            }
            isNews = state.figures.end(run, of: key, with: ending)
            // Report it before the next download begins, so that the events of both are in order.
            if isNews, case .done = ending, item?.lastError == nil {
                effects.append(.reportDone(key))
                isNews = false
            }
            effects.append(.begin(reported))
            let following = state.queue.end(run, of: key, with: ending, at: now, taken: taken)
            effects.append(.transfers { [phase = state.item(key)?.phase] in $0.settle(key, in: phase) })
            return following
        }
        await reported.value
        await recordFailure(of: key, before: item?.lastError)
        if isNews {
            var error: RepriseError?
            if case .failed(let reason) = ending { error = reason }
            engine?.reporter.tell(.downloadEnded(key, error: error))
        }
        // Only now: a cache that closes waits for the event.
        state.withLock { $0.runs[run] = nil }
    }
}
