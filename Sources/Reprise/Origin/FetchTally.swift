import Primitives

/// Counts what origins send for one task, in all fetches that began for it.
final class FetchTally: Sendable {
    /// Told the length of each piece; negative for one that is given back.
    let arrived: @Sendable (Int) -> Void
    private let fetches = IdleWait()

    init(_ arrived: @escaping @Sendable (Int) -> Void) { self.arrived = arrived }

    /// A fetch begins.
    func begin() { fetches.begin() }

    /// A fetch is over.
    func end() { fetches.end() }

    /// Returns when all fetches are over: those that no reader wants may still bring what is under way.
    ///
    /// Waits no longer than `patience`, and not for a canceled task.
    func settle(within patience: Duration, _ clock: CacheClock) async {
        let isOver = Promise<Void>()
        Task { [fetches] in
            await fetches.idle()
            isOver.fulfill()
        }
        let timer = Task {
            try? await clock.sleep(patience)
            isOver.fulfill()
        }
        try? await isOver.wait()
        timer.cancel()
    }
}
