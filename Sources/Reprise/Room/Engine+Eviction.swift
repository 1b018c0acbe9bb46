import Primitives

/// Reserves room on disk and evicts entries.
extension Engine {
    /// Reserves room for `bytes`, evicting as needed; after a crash, once it is known what that left.
    func reserve(_ bytes: Int64, in store: Store) async -> Bool {
        if !store.usageKnown.isFulfilled { await store.usageKnown.value }
        if store.quota.reserve(bytes) { return true }
        let reason: EvictionReason = store.quota.diskShortage(bytes) == nil ? .room : .free
        return await store.evictor.reserve(bytes, by: hands(store, because: reason))
    }

    /// Evicts about `bytes` regardless of the limit, because the disk is full; evicts nothing if `least` cannot be
    /// freed.
    func makeRoom(_ bytes: Int64, atLeast least: Int64, in store: Store) async {
        await store.evictor.makeRoom(bytes, atLeast: least, by: hands(store, because: .free))
    }

    /// Holds live streams to their share of the store after `generation` has grown, if it belongs to one.
    func holdLiveShare(after generation: Generation) async {
        guard generation.record.isLive else { return }
        await generation.store.evictor.holdLiveShare(hands(generation.store, because: .room))
    }

    /// What evicts for `reason`, under which it is counted.
    func hands(_ store: Store, because reason: EvictionReason) -> Evictor.EvictionTarget {
        Evictor.EvictionTarget(
            learn: { title in
                // Without a playlist that can be read, what is recorded counts.
                try? await self.learnFiles(aroundTitles: [title])
            },
            remove: { candidates in
                let whole = candidates.filter { $0.kept == nil }
                guard let outcome = try? await self.remove(whole, force: false, in: store) else {
                    return Evictor.Outcome(inUse: candidates)
                }
                var inUse = outcome.inUse
                for candidate in candidates where candidate.kept != nil {
                    if await !self.trim(candidate, because: reason, in: store) { inUse.append(candidate) }
                }
                for (candidate, usage) in outcome.removed {
                    self.reporter.count { $0.noteEvicted(usage.stored, because: reason) }
                    if let key = candidate.key { self.reporter.tell(.evicted(key, bytes: usage.stored)) }
                }
                if let error = LeftFile.error(outcome.left) {
                    self.reporter.tell(.storeBypassed(nil, reason: error.explanation))
                }
                return Evictor.Outcome(inUse: inUse, left: outcome.left)
            },
            shrink: { candidate, bytes in
                guard let key = candidate.key else { return }
                await self.liveResource(key)?.liveGeneration?.shrink(
                    by: bytes, because: reason, keeping: candidate.kept)
            })
    }

    /// Leaves of an entry what is kept of it; false if more stays, because it is in use or cannot be freed.
    private func trim(
        _ candidate: EntryStore.Candidate, because reason: EvictionReason, in store: Store
    ) async -> Bool {
        guard let key = candidate.key, let url = candidate.url, let kept = candidate.kept,
            let generation = await (try? resource(key))?.storedAtOnce(for: OriginRequest(url: url))
        else { return false }
        await generation.shrink(by: .max, because: reason, keeping: kept)
        guard generation.isIdle, store.canPunch else { return false }
        // Records count as more than the parts that stay.
        await store.recorder.flush()
        do throws(RepriseError) {
            try await store.recorder.change { index async throws(RepriseError) in
                try await index.retentions.markTrimmed(candidate.name)
            }
            return true
        } catch {
            reporter.tell(.storeBypassed(key, reason: error.explanation))
            return false
        }
    }

    /// Removes the entries stored under `keys` and their variants, in use or not, and what `downloads` has of them.
    ///
    /// Returns the bytes of media that were freed, the number of entries that are gone, and the files that could not be
    /// removed.
    func remove(
        _ keys: [CacheKey], in store: Store, endingIn downloads: Downloads
    ) async throws(RepriseError) -> (freed: Usage, entries: Int, left: [LeftFile]) {
        if let problem = store.problem { throw problem }
        // Each key only once, or its usage would be released twice: a variant may be named beside the key it belongs
        // to.
        let all = Set(keys + (try await store.recorder.release(keys) { downloads.cancel(keys) }))
        let candidates = all.map { EntryStore.Candidate(name: store.index.name(of: $0), key: $0) }
        let outcome = try await remove(candidates, force: true, in: store)
        return (outcome.removed.reduce(Usage()) { $0 + $1.usage }, outcome.entries, outcome.left)
    }

    /// Removes entries in one transaction; those in use and those pinned or downloading only if `force` is true.
    func remove(
        _ candidates: [EntryStore.Candidate], force: Bool, in store: Store
    ) async throws(RepriseError) -> (
        removed: [(candidate: EntryStore.Candidate, usage: Usage)], entries: Int, inUse: [EntryStore.Candidate],
        left: [LeftFile]
    ) {
        if let problem = store.problem { throw problem }
        guard !candidates.isEmpty else { return ([], 0, [], []) }
        // Before they leave the table: a new live resource would load entries that are about to be removed.
        let keys = candidates.compactMap(\.key)
        for key in keys { removals.close(key) }
        defer { for key in keys { removals.open(key) } }
        var (taken, inUse) = take(candidates, force: force)
        let removal = try await store.forget(taken.map(\.candidate.name), force: force)
        if !removal.rests.isEmpty {
            for resource in liveResources { resource.liveGeneration?.dropClaims(ofTitles: removal.rests) }
        }
        taken.removeAll { removal.kept.contains($0.candidate.name) }
        store.reach(.unrecorded)
        noteGone(taken.compactMap(\.candidate.key), byEviction: !force)
        var removed: [(candidate: EntryStore.Candidate, usage: Usage)] = []
        var left: [LeftFile] = []
        for (candidate, live) in taken {
            let generations = removal.generations.filter { $0.name == candidate.name && $0.id != live?.id }
            let outcome = await DiskQueue.shared.run { [self] in
                var left: [LeftFile] = []
                let usage = release(generations, and: live, of: candidate, in: store, left: &left)
                return (usage, left)
            }
            removed.append((candidate, outcome.0))
            left += outcome.1
        }
        return (removed, removal.entries, inUse, left)
    }

    /// Tells that bytes of the entries under `keys` have gone.
    func noteGone(_ keys: [CacheKey], byEviction: Bool) {
        guard !keys.isEmpty else { return }
        removalListener.withLock { $0 }?.call(Set(keys), byEviction)
    }

    /// Takes `candidates` out of the table, each with what is live of it; those that stay are in use.
    private func take(
        _ candidates: [EntryStore.Candidate], force: Bool
    ) -> (taken: [(candidate: EntryStore.Candidate, live: Generation?)], inUse: [EntryStore.Candidate]) {
        var taken: [(candidate: EntryStore.Candidate, live: Generation?)] = []
        var inUse: [EntryStore.Candidate] = []
        for candidate in candidates {
            guard let key = candidate.key else {
                // Its record cannot be read, so nothing can be playing it.
                taken.append((candidate, nil))
                continue
            }
            let (isRemoved, resource) = detach(key, force: force)
            if isRemoved { taken.append((candidate, resource?.liveGeneration)) } else { inUse.append(candidate) }
        }
        return (taken, inUse)
    }

    /// Removes the files of an entry that the index no longer names, and releases what they used.
    ///
    /// Returns what was freed; files that could not be removed are added to `left`.
    private func release(
        _ generations: [Index.Removed], and live: Generation?, of candidate: EntryStore.Candidate,
        in store: Store, left: inout [LeftFile]
    ) -> Usage {
        var freed = Usage()
        func note(_ usage: Usage, leaving file: LeftFile?) {
            // What a file goes on to occupy is charged apart.
            store.quota.release(usage)
            if file?.allocated ?? 0 == 0 { freed = freed + usage }
            if let file { left.append(file) }
        }
        for generation in generations {
            note(
                generation.usage,
                leaving: store.removeFile(
                    name: generation.name, generation: generation.id, isUnread: true,
                    recorded: generation.usage.allocated))
        }
        if let live {
            let usage = live.bytes.close()
            live.emptyFileIfUnread()
            note(usage, leaving: store.removeFile(name: candidate.name, generation: live.id, recorded: usage.allocated))
        }
        return freed
    }
}
