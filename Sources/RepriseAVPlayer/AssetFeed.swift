import Dispatch
import Foundation
import Primitives
import Reprise

/// Answers the loading requests of one asset from the cache.
///
/// The machine decides, under the single lock. AVFoundation's objects are used on `queue` only, outside the lock. Bytes
/// are read in tasks. `queue` never blocks.
final class AssetFeed: Sendable {
    /// A request in progress.
    private struct Work {
        let request: any LoadingRequest
        var task: Task<Void, Never>?
        var watch: Task<Void, Never>?
        var patience: Patience

        func cancel() {
            task?.cancel()
            watch?.cancel()
        }
    }

    private struct State {
        var machine = LoadingMachine()
        var work: [LoadingMachine.ID: Work] = [:]
        var ids: [ObjectIdentifier: LoadingMachine.ID] = [:]
        var information: AssetInformation?
        var finding: Task<Void, Never>?
        /// The error with which a request failed last.
        var error: RepriseError?
        var isReleased = false
        /// Whether loading was stopped, and nothing has been requested since.
        var isStopped = false
    }

    let source: AssetSource
    let queue: DispatchQueue
    private let readAhead: ReadAheadRunner
    private let state = Mutex(State())
    private var clock: CacheClock { source.cache.clock }

    init(_ source: AssetSource, queue: DispatchQueue) {
        self.source = source
        self.queue = queue
        readAhead = ReadAheadRunner(source)
    }

    /// Number of requests that have not ended.
    var outstanding: Int { state.withLock { $0.machine.outstanding } }
    /// The error with which a request failed last.
    var error: RepriseError? { state.withLock { $0.error } }
    /// Whether the file turned out to be a playlist.
    var isPlaylist: Bool { state.withLock { $0.information?.contentType?.isPlaylist == true } }

    // MARK: - Calls from AVFoundation, on the queue

    /// Receives a loading request; `object` identifies AVFoundation's request.
    func receive(_ request: any LoadingRequest, for object: ObjectIdentifier) {
        let patience = Patience(source.options.timeout, at: clock.reading)
        let (id, actions, isReleased) = state.withLock { state in
            let (id, actions) = state.machine.receive(
                extent: request.extent, wantsInformation: request.wantsInformation)
            state.work[id] = Work(request: request, patience: patience)
            state.ids[object] = id
            state.isStopped = false
            return (id, actions, state.isReleased)
        }
        guard !isReleased else { return fail(id, error: RepriseError(.closed, "The asset is gone.")) }
        let watch = Task(priority: .userInitiated) { await self.watch(id) }
        state.withLock { $0.work[id]?.watch = watch }
        perform(actions)
    }

    /// Cancels a loading request; an unknown one has ended before.
    func cancel(_ object: ObjectIdentifier) {
        let (actions, rest) = state.withLock { state -> ([LoadingMachine.Action], Int64?) in
            guard let id = state.ids[object] else { return ([], nil) }
            let rest = state.machine.position(of: id)
            return (state.machine.cancel(id), rest)
        }
        perform(actions)
        if let rest { readAhead.player(leftAt: rest, completeLength: knownLength) }
    }

    /// Fails the requests in progress because playback has left the item.
    func stop() {
        queue.async { [self] in
            let actions = state.withLock { state in
                state.isStopped = true
                return state.machine.failAll()
            }
            readAhead.cancel()
            perform(actions, error: RepriseError(.closed, "Loading was stopped.", cause: CancellationError()))
        }
    }

    /// Changes which networks may be used.
    func setNetworkPolicy(_ policy: NetworkPolicy) {
        source.setNetworkPolicy(policy)
        readAhead.networkPolicyChanged()
    }

    /// Releases everything because the asset is gone; may be called from any thread.
    func release() {
        readAhead.cancel()
        source.drop()
        let work = state.withLock { state in
            state.isReleased = true
            _ = state.machine.release()
            state.finding?.cancel()
            defer {
                state.work = [:]
                state.ids = [:]
            }
            return Array(state.work.values)
        }
        for work in work { work.cancel() }
    }

    private var knownLength: Int64? { state.withLock { $0.machine.completeLength } }

    // MARK: - Actions, on the queue

    private func perform(_ actions: [LoadingMachine.Action], error: (any Error)? = nil) {
        for action in actions {
            switch action {
            case .findInformation:
                let task = Task(priority: .userInitiated) { await self.find() }
                let isReleased = state.withLock { state in
                    state.finding = task
                    return state.isReleased
                }
                if isReleased { task.cancel() }
            case .inform(let id): inform(id)
            case .serve(let id, let range):
                let task = Task(priority: .userInitiated) { await self.serve(id, range: range) }
                let isLive = state.withLock { state in
                    state.work[id]?.task = task
                    return state.work[id] != nil
                }
                if !isLive { task.cancel() }
            case .finish(let id): take(id)?.request.finish()
            case .fail(let id):
                if let error = error as? RepriseError { state.withLock { $0.error = error } }
                take(id)?.request.finish(with: LoadingError.make(error ?? CancellationError()))
            case .stop(let id): _ = take(id)
            }
        }
    }

    /// Removes a request and ends the work for it.
    private func take(_ id: LoadingMachine.ID) -> Work? {
        let work = state.withLock { state in
            let work = state.work.removeValue(forKey: id)
            if work != nil { state.ids = state.ids.filter { $0.value != id } }
            return work
        }
        work?.cancel()
        return work
    }

    private func inform(_ id: LoadingMachine.ID) {
        let (request, information) = state.withLock { ($0.work[id]?.request, $0.information) }
        guard let request, let information else { return }
        let allowed = request.allowedContentTypes
        let type = information.contentType?.answer(allowed: allowed)
        guard type != nil || allowed.isEmpty else {
            // Finishing with a type outside the list raises an exception in AVFoundation.
            let name = information.contentType?.identifier ?? "a file of unknown type"
            return fail(id, error: RepriseError(.originMisbehaved, "The player does not accept \(name) here."))
        }
        request.fill(information, contentType: type?.identifier)
    }

    private func fail(_ id: LoadingMachine.ID, error: any Error) {
        let actions = state.withLock { $0.machine.failed(id) }
        perform(actions, error: error)
    }

    private func onQueue<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in queue.async { continuation.resume(returning: body()) } }
    }

    // MARK: - Work, in tasks

    private func find() async {
        let result: Result<AssetInformation, any Error>
        do { result = .success(try await discover()) } catch { result = .failure(error) }
        await onQueue { [self] in
            switch result {
            case .success(let information):
                let actions = state.withLock { state in
                    if state.information == nil { state.information = information }
                    return state.machine.informed(completeLength: information.completeLength)
                }
                perform(actions)
                let isWanted = state.withLock { !$0.isStopped && !$0.isReleased }
                if isWanted, source.mustBeFetchedWhole { readAhead.fetchWhole() }
            case .failure(let error):
                perform(state.withLock { $0.machine.informationFailed() }, error: error)
            }
        }
    }

    /// Determines the asset's information, again if the network policy has changed when that fails.
    private func discover() async throws -> AssetInformation {
        while true {
            let policy = source.networkPolicy
            do {
                return try await source.discover { progressed() }
            } catch is RepriseError where source.networkPolicy != policy {}
        }
    }

    private func serve(_ id: LoadingMachine.ID, range: Range<Int64>) async {
        guard let information = state.withLock({ $0.information }) else { return }
        var position = range.lowerBound
        do {
            // One read, unless the network policy changes. With stored bytes only, a read ends before a hole, and the
            // next one reports it.
            while position < range.upperBound {
                let policy = source.networkPolicy
                do {
                    guard try await read(range, from: &position, of: information, under: policy, for: id) else {
                        return
                    }
                } catch is RepriseError where source.networkPolicy != policy {
                    // Tried again under the policy that holds now.
                }
            }
        } catch {
            await onQueue { [self] in fail(id, error: error) }
        }
    }

    /// Delivers what one read brings of the rest of `range`, which begins at `position`; false if the player wants no
    /// more.
    private func read(
        _ range: Range<Int64>, from position: inout Int64, of information: AssetInformation,
        under policy: NetworkPolicy, for id: LoadingMachine.ID
    ) async throws -> Bool {
        let start = position
        let bytes = try await source.open(start..<range.upperBound, of: information) { [weak self] in
            self?.progressed(id)
        }
        defer { bytes.cancel() }
        var sincePause = 0
        while position < range.upperBound, source.networkPolicy == policy {
            guard let data = try await bytes.next() else {
                if policy == .never, position > start { return true }
                throw RepriseError(.originBodyTruncated, "The file ended after \(position) bytes.", range: range)
            }
            let given = await deliver(data, at: position, to: id)
            guard given > 0 else { return false }
            position += Int64(given)
            sincePause += given
            if sincePause >= Pace.bytes {
                sincePause = 0
                try await clock.sleep(Pace.pause)
            }
        }
        return true
    }

    /// Delivers `data` to the player; returns how many of the bytes it still wanted, 0 if the request has ended.
    private func deliver(_ data: Data, at offset: Int64, to id: LoadingMachine.ID) async -> Int {
        await onQueue { [self] in
            let (request, count) = state.withLock { state in
                (state.work[id]?.request, state.machine.deliverable(id, at: offset, count: data.count))
            }
            guard let request, count > 0 else { return 0 }
            guard !request.isCancelled else {
                perform(state.withLock { $0.machine.cancel(id) })
                return 0
            }
            request.respond(with: count == data.count ? data : Data(data.prefix(count)))
            let now = clock.reading
            let actions = state.withLock { state in
                state.work[id]?.patience.progressed(at: now)
                return state.machine.delivered(id, count: count)
            }
            perform(actions)
            if !actions.isEmpty { readAhead.player(leftAt: offset + Int64(count), completeLength: knownLength) }
            return count
        }
    }

    /// Notes that bytes come for a request, or for all that wait for the length, although none can be delivered yet.
    private func progressed(_ id: LoadingMachine.ID? = nil) {
        let now = clock.reading
        state.withLock { state in
            let ids = id.map { [$0] } ?? state.work.keys.filter { state.machine.position(of: $0) == nil }
            for id in ids { state.work[id]?.patience.progressed(at: now) }
        }
    }

    /// Fails the request if it has received no bytes for too long; AVFoundation would do so later, with an unhelpful
    /// error.
    private func watch(_ id: LoadingMachine.ID) async {
        while true {
            let now = clock.reading
            guard let step = state.withLock({ $0.work[id]?.patience.step(at: now) }) else { return }
            guard step > .zero else {
                let error = RepriseError(.originTimedOut, "No byte came within \(source.options.timeout).")
                return await onQueue { [self] in fail(id, error: error) }
            }
            do { try await clock.awake.sleep(step) } catch { return }
        }
    }
}

/// Limits the rate at which stored bytes are delivered: AVFoundation has no back-pressure and keeps what it gets, so a
/// cancellation needs time to arrive before the next megabyte does.
///
/// 100 MB/s, many times the bit rate of any film.
enum Pace {
    static let bytes = 1 << 20
    static let pause = Duration.milliseconds(10)
}
