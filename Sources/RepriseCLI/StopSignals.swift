@preconcurrency import Dispatch
import Foundation
import Primitives
import Reprise

/// SIGINT, SIGTERM and SIGHUP: the first ends work in good order, the second ends the process at once.
///
/// To a server, a hang-up means something else (``onHangUp(_:)``). A hang-up that this process was told to ignore
/// (`nohup`) stays ignored.
final class StopSignals: Sendable {
    /// The work was ended by a signal.
    struct Interruption: Error {
        /// How much was done, and how to go on; for people.
        let message: String
    }

    /// The work on a URL was ended; how much of it is stored is known once the cache is closed.
    struct StoppedTransfer: Error {
        let key: CacheKey
        let name: String
        /// How the files of a stream become keys.
        let policy: CacheKeyPolicy
        /// How to go on, for people.
        let advice: String
        /// Bytes of the file that a server has, also those that it has not recorded; `nil` if it was not asked.
        var storedBytes: Int64?
    }

    private struct State {
        var received: Int32?
        var receivedAt: ContinuousClock.Instant?
        var cancellations: [@Sendable () -> Void] = []
        /// Remove what must not stay behind, however the process ends.
        var discards: [@Sendable () -> Void] = []
        /// Called by each hang-up; `nil` if a hang-up ends the work.
        var reload: (@Sendable () -> Void)?
    }

    private let state = Mutex(State())
    private let sources: [any DispatchSourceSignal]
    /// Whether there was a terminal that can hang up.
    private let hadTerminal = StopSignals.hasTerminal

    /// Takes the signals from now on.
    ///
    /// If `isReloading`, a hang-up asks to open files again, as for a server; until ``onHangUp(_:)`` says how, it does
    /// nothing. It ends the work all the same when it comes because the terminal is gone.
    init(_ numbers: [Int32] = [SIGINT, SIGTERM, SIGHUP], isReloading: Bool = false) {
        if isReloading { state.withLock { $0.reload = {} } }
        sources = numbers.compactMap { number in
            number == SIGHUP && Self.isIgnored(number)
                ? nil : DispatchSource.makeSignalSource(signal: number, queue: .global())
        }
        let registered = DispatchGroup()
        for source in sources {
            let number = Int32(source.handle)
            source.setEventHandler { [weak self] in self?.receive(number) }
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
        }
        // Until then a signal ends the process, as it would have a moment before: ignored, it would be lost.
        registered.wait()
        #if canImport(Darwin)
            // Its sources watch; what a signal does besides has to be turned off. On Linux they handle it themselves.
            for number in numbers { signal(number, SIG_IGN) }
        #endif
        // The reader of a pipe may leave: that is an error of the write.
        signal(SIGPIPE, SIG_IGN)
    }

    private static func isIgnored(_ number: Int32) -> Bool {
        var action = sigaction()
        guard sigaction(number, nil, &action) == 0 else { return false }
        #if canImport(Darwin)
            let handler = action.__sigaction_u.__sa_handler
        #else
            let handler = action.__sigaction_handler.sa_handler
        #endif
        return unsafeBitCast(handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }

    /// The signal that came, if one did.
    var received: Int32? { state.withLock { $0.received } }

    /// Whether this process has a controlling terminal.
    private static var hasTerminal: Bool {
        let terminal = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
        guard terminal >= 0 else { return false }
        close(terminal)
        return true
    }

    /// Calls `reload` at each hang-up from now on, instead of doing nothing.
    func onHangUp(_ reload: @escaping @Sendable () -> Void) { state.withLock { $0.reload = reload } }

    private func receive(_ number: Int32) {
        if number == SIGHUP, let reload = state.withLock({ $0.reload }), !hadTerminal || Self.hasTerminal {
            return reload()
        }
        let now = ContinuousClock.now
        let (first, cancellations, discards) = state.withLock { state in
            defer { (state.received, state.receivedAt) = (state.received ?? number, state.receivedAt ?? now) }
            return (
                state.received.map { (number: $0, time: state.receivedAt ?? now) }, state.cancellations, state.discards
            )
        }
        if let first {
            if first.number == number, now - first.time < Self.timeOfEchoes { return }
            for discard in discards { discard() }
            Self.end(by: number)
        }
        for cancel in cancellations { cancel() }
    }

    /// A signal that comes again within this time counts once: timeout(1) sends it to its child and to its group.
    private static let timeOfEchoes = Duration.milliseconds(100)

    /// Runs `work` in a task that the first signal cancels.
    ///
    /// Only there: what follows, such as closing the cache, is not canceled.
    func interrupting<T: Sendable>(_ work: @escaping @Sendable () async throws -> T) async -> Result<T, any Error> {
        let task = Task(operation: work)
        onFirst { task.cancel() }
        return await task.result
    }

    /// As ``get(_:)``; a transfer that was ended says what the next run finds in the cache in `options`, which is
    /// closed.
    func get<T>(_ result: Result<T, any Error>, stored options: CacheOptions) async throws -> T {
        guard case .failure(let stop as StoppedTransfer) = result else { return try get(result) }
        let share = await StoredShare(of: stop, in: options)
        return try get(.failure(Interruption(message: "Stopped. \(share) \(stop.advice)")))
    }

    /// Ends the process by the signal that came, if one did, after removing unfinished outputs; for work that has not
    /// begun.
    func endIfReceived() {
        let (received, discards) = state.withLock { ($0.received, $0.discards) }
        guard let received else { return }
        for discard in discards { discard() }
        Terminal.error("reprise: Stopped. Nothing was done.")
        Self.end(by: received)
    }

    /// Calls `discard`, which removes an unfinished output, should a second signal come.
    func watch(_ discard: @escaping @Sendable () -> Void) { state.withLock { $0.discards.append(discard) } }

    /// Returns when the first signal comes.
    func wait() async {
        let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
        onFirst { continuation.finish() }
        for await _ in stream {}
    }

    private func onFirst(_ action: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            state.cancellations.append(action)
            return state.received != nil
        }
        if isOver { action() }
    }

    /// The value of `result`; ends the process by the signal that interrupted it, or by that of a pipe that nothing
    /// reads, so that a shell sees which one it was.
    func get<T>(_ result: Result<T, any Error>) throws -> T {
        do { return try result.get() } catch {
            if let failure = error as? OutputFile.Failure, failure.reason == .readerIsGone { Self.end(by: SIGPIPE) }
            guard let received, error is CancellationError || error is Interruption else { throw error }
            let message = (error as? Interruption)?.message ?? "Stopped. Run the same command again."
            Terminal.error("reprise: \(message)")
            Self.end(by: received)
        }
    }

    /// Ends the process as by the signal.
    static func end(by number: Int32) -> Never {
        AskedPrograms.endAll()
        signal(number, SIG_DFL)
        // Dispatch's threads block signals.
        var numbers = sigset_t()
        sigemptyset(&numbers)
        sigaddset(&numbers, number)
        pthread_sigmask(SIG_UNBLOCK, &numbers, nil)
        raise(number)
        // The first process of a container does not end by a signal.
        _exit(128 + number)
    }
}

/// Runs `work`, which may wait for ever, on a thread of its own; a task that is canceled does not wait for its end.
///
/// For what cannot be told to stop, such as a write to a pipe, in a process that is about to end.
func onThread<T: Sendable>(_ work: @escaping @Sendable () throws -> T) async throws -> T {
    try Task.checkCancellation()
    let result = Promise<Result<T, any Error>>()
    Thread.detachNewThread { result.fulfill(Result { try work() }) }
    return try await result.wait().get()
}
