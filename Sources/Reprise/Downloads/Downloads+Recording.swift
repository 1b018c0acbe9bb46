import Primitives

/// Recording why downloads wait or have failed.
extension Downloads {
    /// Records that downloads wait for their hours, for the next process; of `key` even if that is recorded.
    func recordHours(again key: CacheKey? = nil) async {
        let keys = state.withLock { state in
            var keys: Set<CacheKey> = []
            for item in state.queue.items where item.waitsForHours {
                let isNews = state.figures.noteHours(of: item.key, because: item.lastError)
                if isNews || item.key == key { keys.insert(item.key) }
            }
            return keys
        }
        await recordFailures(of: keys)
    }

    /// Records why a download waits or has failed, unless that is as it was before.
    func recordFailure(of key: CacheKey, before: RepriseError?) async {
        let item = state.withLock { $0.item(key) }
        guard let item, item.lastError.map(RecordCodec.Failure.init) != before.map(RecordCodec.Failure.init)
        else { return }
        await recordFailures(of: [key])
    }

    /// Records why downloads wait or have failed, in one transaction.
    private func recordFailures(of keys: Set<CacheKey>) async {
        guard let store = engine?.store, !keys.isEmpty else { return }
        do throws(RepriseError) {
            try await store.recorder.change { [self] index async throws(RepriseError) in
                // As they are by then: they may have been put back, or resumed.
                let items = state.withLock { $0.queue.items.filter { keys.contains($0.key) } }
                try await index.downloads.setFailures(of: items)
            }
        } catch {
            let key = keys.count == 1 ? keys.first : nil
            store.reporter.tell(.storeBypassed(key, reason: error.explanation))
        }
    }
}
