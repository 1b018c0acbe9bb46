import Foundation
import HTTPTypes
import Primitives
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Answers requests of downloads with transfers in the background.
///
/// A request for a hole begins the transfers that the hole needs and waits for the one that brings its first byte. A
/// transfer is known by its record, so that the next process finds it: one that runs is joined, one that has come
/// answers at once. What has come lies in a folder until the engine has stored it, and is dropped with its download if
/// it is asked for no more.
///
/// A lock guards the table, and is taken before those of interests and errands, which are leaves. The session and the
/// folder are used, and waiters are woken, outside it.
final class TransferDesk: Sendable {
    /// Why a waiting request goes on.
    private enum Wake: Sendable {
        /// Something has changed.
        case look
        /// Its transfers were given up.
        case givenUp
        case failed(RepriseError)
        case refused(Arrival, body: Data)
    }

    private typealias Continuation = CheckedContinuation<Wake, Never>

    private struct State {
        var table: TransferTable
        var continuations: [TransferTable.Waiter: Continuation] = [:]

        mutating func take(_ waiters: [TransferTable.Waiter]) -> [Continuation] {
            waiters.compactMap { continuations.removeValue(forKey: $0) }
        }
    }

    private let folder: ArrivalFolder
    private let clock: CacheClock
    private let largestTransfer: Int64
    private let state: Mutex<State>
    /// `nil` where there is none, and then nothing is answered.
    private let session = Mutex<(any BackgroundSession)?>(nil)
    private let preparation = Once()
    /// Names of what an earlier process has left and could not be read yet; a leaf lock.
    private let unread: Mutex<Set<String>>
    /// Called when all that happened while the program did not run is stored.
    private let onSettled: @Sendable () -> Void
    /// Longest time after the system has told all: it gives a program about 30 s.
    static let settlingTime = Duration.seconds(20)
    /// How long nothing may happen before it is told that all is dealt with: a stream has many requests at a time, and
    /// one that waits says nothing of the others.
    static let quietTime = Duration.seconds(1)
    private let quietTime: Duration

    init(
        folder: URL, clock: CacheClock = .system, largestTransfer: Int64 = TransferPlan.largestTransfer,
        quietTime: Duration = TransferDesk.quietTime, onSettled: @escaping @Sendable () -> Void = {}
    ) {
        self.folder = ArrivalFolder(folder)
        (self.clock, self.largestTransfer) = (clock, largestTransfer)
        (self.quietTime, self.onSettled) = (quietTime, onSettled)
        let (arrivals, unread) = self.folder.arrivals()
        self.unread = Mutex(unread)
        state = Mutex(State(table: TransferTable(arrivals)))
    }

    /// Takes the session, which tells this desk what it does.
    func attach(_ session: any BackgroundSession) { self.session.withLock { $0 = session } }

    /// Whether there is a session.
    var isInBackground: Bool { currentSession != nil }

    private var currentSession: (any BackgroundSession)? { session.withLock { $0 } }

    // MARK: - Requests

    /// Answers a request of a download when its bytes have come; `nil` if it must be sent while the program runs.
    ///
    /// `make` makes the system's request of one of the engine's, for `networks`. Throws what `make` throws, the error
    /// with which the transfer has ended, or `CancellationError`.
    func answer(
        _ request: OriginRequest, over networks: TransferNetworks,
        make: (OriginRequest) throws(RepriseError) -> URLRequest
    ) async throws -> OriginResponse? {
        guard let session = currentSession, let ask = TransferAsk(request, over: networks),
            let interest = request.context.interest, let errand = request.context.errand
        else { return nil }
        await prepare(session)
        readUnread()
        while true {
            try Task.checkCancellation()
            guard let demand = interest.demand, !errand.isOver, state.withLock({ $0.table.isWithinBounds(ask) }) else {
                throw CancellationError()
            }
            guard demand == .download else {
                // A viewer waits for these bytes.
                giveUp { $0.isOf(ask) }
                return nil
            }
            if let response = response(to: ask, request) { return response }
            switch try await wait(for: ask, request, interest, errand, make: make) {
            case .look: continue
            case .givenUp: throw CancellationError()
            case .failed(let error): throw error
            case .refused(let arrival, let body):
                var response = OriginResponse(
                    head: arrival.head, url: arrival.source ?? request.url, body: ErrorPage(body))
                response.onStored = {}
                return response
            }
        }
    }

    /// Reads what could not be read when the program was launched, before the device was unlocked for the first time.
    private func readUnread() {
        let names = unread.withLock { $0 }
        guard !names.isEmpty else { return }
        let (arrivals, rest) = folder.read(names)
        for arrival in arrivals { keep(arrival) }
        unread.withLock { $0.subtract(names.subtracting(rest)) }
    }

    private func response(to ask: TransferAsk, _ request: OriginRequest) -> OriginResponse? {
        let (arrival, useless) = state.withLock { state in
            let arrival = state.table.arrival(for: ask)
            return (arrival, arrival.flatMap { state.table.answered(ask, by: $0) })
        }
        guard let arrival, let (head, part) = arrival.answer(to: ask) else { return nil }
        defer {
            if let useless {
                // Parts of the old file, too.
                giveUp { $0.isOf(ask) }
                drop(useless)
            }
        }
        let isLast = part.upperBound == arrival.length
        let body = ArrivedBody(folder.body(of: arrival.record), part: part, from: request.url.authority) {
            [weak self] in self?.drop([arrival.record])
        }
        var response = OriginResponse(head: head, url: arrival.source ?? request.url, body: body)
        response.onStored = { [weak self] in if isLast { self?.stored(arrival.record) } }
        return response
    }

    /// Begins the transfers that are missing, and waits until one that matters has ended, the interest changes, or
    /// the run is over.
    private func wait(
        for ask: TransferAsk, _ request: OriginRequest, _ interest: RequestInterest, _ errand: BackgroundErrand,
        make: (OriginRequest) throws(RepriseError) -> URLRequest
    ) async throws -> Wake {
        let time = Int64(clock.now())
        let made = try make(request)
        let waiter = state.withLock { $0.table.makeWaiter() }
        let observer = interest.observe { [weak self] in self?.wake(waiter) }
        // A request lingers after its run, and one of the next run would join it, whatever that is sent with.
        let errandObserver = errand.observe { [weak self] in self?.wake(waiter) }
        defer {
            interest.forget(observer)
            errand.forget(errandObserver)
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let begun = state.withLock { state -> (TransferTable.Beginning, others: [Continuation])? in
                    guard !Task.isCancelled, interest.demand == .download, !errand.isOver,
                        state.table.isWithinBounds(ask),
                        let beginning = state.table.wait(waiter, for: ask, at: time, largest: largestTransfer)
                    else { return nil }
                    state.continuations[waiter] = continuation
                    return (beginning, state.take(beginning.others))
                }
                guard let (beginning, others) = begun else { return continuation.resume(returning: .look) }
                for number in beginning.canceled { currentSession?.cancel(number) }
                for other in others { other.resume(returning: .look) }
                for record in beginning.records { start(record, made) }
                settle()
            }
        } onCancel: {
            wake(waiter)
        }
    }

    private func start(_ record: TransferRecord, _ request: URLRequest) {
        // It may have been given up by now.
        guard let session = currentSession, state.withLock({ $0.table.isWanted(record) }) else { return }
        let number = session.start(record.request(from: request), description: record.description)
        if !state.withLock({ $0.table.began(record, as: number) }) { session.cancel(number) }
    }

    private func wake(_ waiter: TransferTable.Waiter) {
        let continuations = state.withLock { state in
            state.table.leave(waiter)
            return state.take([waiter])
        }
        for continuation in continuations { continuation.resume(returning: .look) }
    }

    /// Learns which transfers of earlier processes have not ended, once.
    private func prepare(_ session: any BackgroundSession) async {
        await preparation.perform { [weak self] in
            let found = await session.transfers().map {
                (number: $0.number, record: TransferRecord(description: $0.description))
            }
            guard let self else { return }
            for number in state.withLock({ $0.table.learned(found) }) { session.cancel(number) }
        }
    }

    // MARK: - What downloads want

    func arrivedBytes(of entry: String) -> ArrivedBytes {
        let lengths = state.withLock { $0.table.lengths(ofArrivalsFor: entry) }
        // Those that will come are there twice, too.
        return ArrivedBytes(sum: lengths.reduce(0, +), largest: max(lengths.max() ?? 0, largestTransfer))
    }

    func expectTransfers(of title: String) { state.withLock { $0.table.begin(title) } }

    func restTransfers(of title: String) {
        state.withLock { $0.table.rest(title) }
        settle()
    }

    func pauseTransfers(of title: String) {
        state.withLock { $0.table.release(title, keepingArrivals: true) }
        giveUp { $0.title == title }
        settle()
    }

    /// Ends the transfers for a title that may use other networks than it may now; others begin in their place.
    func endTransfers(of title: String, notOver networks: TransferNetworks) {
        state.withLock { $0.table.confine(title, to: networks) }
        giveUp { $0.title == title && $0.networks != networks }
    }

    func endTransfers(of title: String) {
        pauseTransfers(of: title)
        drop(
            state.withLock { state in
                state.table.arrived { arrival in
                    guard arrival.record.title == title else { return false }
                    if case .part = arrival.verdict { return false }
                    return true
                }
            })
    }

    func forgetTransfers(of title: String) {
        state.withLock { $0.table.release(title, keepingArrivals: false) }
        giveUp { $0.title == title }
        drop(state.withLock { $0.table.arrived { $0.record.title == title } })
    }

    func keepTransfers(running: Set<String>, titles: Set<String>) {
        readUnread()
        state.withLock { $0.table.keep(running: running, titles: titles) }
        giveUp { !running.contains($0.title) }
        drop(state.withLock { $0.table.arrived { !titles.contains($0.record.title) } })
        settle()
        guard let session = currentSession else { return }
        // Those of earlier processes end, also if nothing is asked.
        Task { [weak self] in await self?.prepare(session) }
    }

    private func giveUp(where isMeant: (TransferRecord) -> Bool) {
        let (numbers, continuations) = state.withLock { state in
            let (numbers, waiters) = state.table.giveUp(where: isMeant)
            return (numbers, state.take(waiters))
        }
        for number in numbers { currentSession?.cancel(number) }
        for continuation in continuations { continuation.resume(returning: .givenUp) }
    }

    private func drop(_ records: [TransferRecord]) {
        // From here on it answers nothing.
        state.withLock { $0.table.drop(records) }
        for record in records { folder.remove(record) }
        settle()
    }

    private func stored(_ record: TransferRecord) {
        state.withLock { $0.table.stored(record) }
        folder.remove(record)
        settle()
    }

    /// Tells the system if all that it has told is dealt with, and nothing more happens.
    private func settle() {
        guard let moment = state.withLock({ $0.table.settled }) else { return }
        Task { [weak self, clock, quietTime] in
            try? await clock.awake.sleep(quietTime)
            guard let self, state.withLock({ $0.table.takeSettled(since: moment) }) else { return }
            onSettled()
        }
    }
}

// MARK: - The session

extension TransferDesk: BackgroundSessionDelegate {
    func arrived(_ description: String?, response: URLResponse?, asked: URL?, file: URL) {
        guard let (record, url) = transfer(description, asked) else { return }
        do throws(RepriseError) {
            guard let response, let length = ArrivalFolder.length(of: file) else {
                throw .originBodyTruncated(url.authority, cause: nil)
            }
            let head = try ResponseHead(response, to: OriginRequest(url: url)).response
            let source = response.url.flatMap { try? ResourceURL($0.absoluteString) } ?? url
            let verdict = try TransferVerdict.judge(
                record, head, length: length, from: url, leavesTLS: url.scheme == .https && source.scheme != .https)
            take(Arrival(record, verdict, head, from: source, length: length), file)
        } catch {
            fail(record, .failed(error))
        }
    }

    private func take(_ arrival: Arrival, _ file: URL) {
        let record = arrival.record
        guard arrival.verdict != .refusal else {
            // It answers those that wait; later it would be old.
            let body = try? FileHandle(forReadingFrom: file).read(upToCount: OriginRefusal.maximumBody)
            let wake = Wake.refused(arrival, body: body ?? Data())
            return arrival.isOfItsRequest ? refuse(record, wake) : fail(record, wake)
        }
        guard state.withLock({ $0.table.isWanted(record) }) else { return }
        do throws(RepriseError) { try folder.add(arrival, from: file) } catch { return fail(record, .failed(error)) }
        keep(arrival)
    }

    /// A response lies in the folder.
    private func keep(_ arrival: Arrival) {
        let taken = state.withLock { state in
            state.table.arrived(arrival).map { (numbers: $0.canceled, continuations: state.take($0.waiters)) }
        }
        guard let taken else {
            // Unless two have read it at a time.
            if !state.withLock({ $0.table.hasArrived(arrival.record) }) { folder.remove(arrival.record) }
            return
        }
        for number in taken.numbers { currentSession?.cancel(number) }
        for continuation in taken.continuations { continuation.resume(returning: .look) }
    }

    private func refuse(_ record: TransferRecord, _ wake: Wake) {
        let (told, others) = state.withLock { state in
            let (told, others) = state.table.refused(record)
            return (state.take(told), state.take(others))
        }
        for continuation in told { continuation.resume(returning: wake) }
        for continuation in others { continuation.resume(returning: .look) }
    }

    private func fail(_ record: TransferRecord, _ wake: Wake) {
        let continuations = state.withLock { state in state.take(state.table.failed(record)) }
        for continuation in continuations { continuation.resume(returning: wake) }
    }

    func ended(_ description: String?, asked: URL?, error: (any Error)?) {
        guard let (record, url) = transfer(description, asked) else { return }
        // Without an error its response has come before, as a rule, and this is no news.
        let failure = error.map { Failures.transfer($0, from: url) }
        fail(record, .failed(failure ?? .originBodyTruncated(url.authority, cause: nil)))
    }

    /// The transfer that the system speaks of; `nil` if it is none of this kind, or has come in an earlier process.
    ///
    /// One without a URL has failed: nothing can be done with its bytes.
    private func transfer(_ description: String?, _ asked: URL?) -> (record: TransferRecord, url: ResourceURL)? {
        guard let record = TransferRecord(description: description),
            !unread.withLock({ $0.contains(record.id.uuidString) })
        else { return nil }
        guard let asked, let url = try? ResourceURL(asked.absoluteString) else {
            let what = "The system has lost the URL of a transfer in the background."
            fail(record, .failed(RepriseError(.originUnreachable, what)))
            return nil
        }
        return (record, url)
    }

    func allWasTold() {
        let wave = state.withLock { $0.table.allWasTold() }
        settle()
        Task { [weak self, clock] in
            try? await clock.awake.sleep(Self.settlingTime)
            guard let self, state.withLock({ $0.table.takeOverdue(wave) }) else { return }
            onSettled()
        }
    }
}
