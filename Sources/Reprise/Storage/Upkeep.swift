import Primitives

/// Background work of an open cache: cleanup once, removal of old entries every hour, limits of tags.
final class Upkeep: Sendable {
    private static let interval = Duration.seconds(3600)
    /// Longest time that writes, and so players, wait after a crash until leftover bytes are counted.
    ///
    /// With a million files on a slow disk, counting takes minutes.
    private static let longestCount = Duration.seconds(2)

    private weak let engine: Engine?
    private let tasks = Mutex<[Task<Void, Never>]>([])

    init(engine: Engine) { self.engine = engine }

    func start(_ store: Store) {
        store.tagKeeper.start { [weak engine] tags in
            guard let engine else { return }
            await store.evictor.prepare()
            for tag in tags.sorted() {
                store.tagKeeper.lookBegins(tag: tag)
                guard var excess = try? await store.index.look({ try $0.titles.excess(ofTag: tag) }) else {
                    store.tagKeeper.lookFailed(tag: tag)
                    continue
                }
                if excess > 0 {
                    await store.evictor.hold(tag, by: engine.hands(store, because: .room))
                    excess = (try? await store.index.look { try $0.titles.excess(ofTag: tag) }) ?? excess
                }
                var isOverfull = false
                if excess > 0 {
                    isOverfull =
                        (try? await store.index.look { try !$0.titles.hasRoom(for: 0, taggedAs: tag) }) ?? false
                }
                store.tagKeeper.lookEnds(tag: tag, excess: excess, isOverfull: isOverfull)
            }
        }
        let reconciliation = Task(priority: .userInitiated) { [weak engine, clock = engine?.clock] in
            let deadline = Task(priority: .userInitiated) {
                guard store.isUnclean, (try? await clock?.sleep(Self.longestCount)) != nil else { return }
                store.usageKnown.fulfill()
            }
            // The previous process may have ended before it checked the limits, and pins may have expired.
            store.tagKeeper.note((try? await store.index.look { try $0.titles.limitedTags() }) ?? [])
            await store.reconcile(isLive: Self.isLive(engine))
            deadline.cancel()
            store.usageKnown.fulfill()
        }
        let aging = Task(priority: .userInitiated) { [weak engine] in
            while !Task.isCancelled, let pause = await Self.removeAged(engine, in: store) {
                do { try await pause(Self.interval) } catch { return }
            }
        }
        tasks.withLock { $0 = [reconciliation, aging] }
    }

    /// Returns when the cleanup after a crash is done.
    func settle() async { await tasks.withLock { $0.first }?.value }

    private static func isLive(_ engine: Engine?) -> @Sendable (String) -> Bool {
        { [weak engine] name in engine?.isLive(name: name) ?? false }
    }

    /// Removes old entries; returns the function that waits for the next time, or `nil` if there is none.
    private static func removeAged(
        _ engine: Engine?, in store: Store
    ) async -> (@Sendable (Duration) async throws -> Void)? {
        guard let engine, let age = engine.configuration.maximumAge else { return nil }
        let clock = engine.clock
        await store.evictor.prune(
            before: clock.now() - age / .seconds(1), size: nil, by: engine.hands(store, because: .age))
        return clock.sleep
    }

    func cancel() {
        for task in tasks.withLock({ $0 }) { task.cancel() }
    }

    /// Stops the work, before the directory is closed.
    func stop() async {
        cancel()
        for task in tasks.withLock({ $0 }) { await task.value }
    }
}
