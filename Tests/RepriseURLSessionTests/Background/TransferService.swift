import Dispatch
import Foundation
import Primitives
import RepriseTesting

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Takes the place of the system's service that transfers in the background: it outlives the processes of an app.
///
/// As strict as the real one: a process that begins is told in any order what came while there was none, for transfers
/// that it has not begun; the file of a response is gone after the call; a canceled transfer ends with an error; and
/// the list of transfers contains those of which the end has not been told.
final class TransferService: Sendable {
    private enum Outcome: Sendable {
        case response(HTTPURLResponse, Data)
        case error(URLError)
    }

    private struct Job: Sendable {
        let request: URLRequest
        let description: String
        var isRunning = false
        var outcome: Outcome?
    }

    private struct State {
        var jobs: [Int: Job] = [:]
        var lastNumber = 0
        /// All requests, in their order.
        var requests: [URLRequest] = []
        var isHeld = false
        /// Told what happens; `nil` while the app does not run.
        var connection: Session?
        var generator: SeededGenerator
    }

    private let state: Mutex<State>
    private let tellsTwice: Bool
    /// Whether it tells what came while no process ran only when it has listed those that run.
    private let tellsLate: Bool
    /// Whether a gateway on the way drops If-Match.
    private let dropsConditions: Bool
    private let network: URLSession
    private let folder: TemporaryDirectory

    init(
        seed: UInt64 = 1, tellsTwice: Bool = false, tellsLate: Bool = false, dropsConditions: Bool = false
    ) throws {
        (self.tellsLate, self.dropsConditions) = (tellsLate, dropsConditions)
        state = Mutex(State(generator: SeededGenerator(seed: seed)))
        self.tellsTwice = tellsTwice
        let configuration = URLSessionConfiguration.ephemeral
        // A part must not be answered with another one that came before.
        configuration.urlCache = nil
        network = URLSession(configuration: configuration)
        folder = try TemporaryDirectory()
    }

    deinit {
        network.invalidateAndCancel()
        folder.remove()
    }

    /// A process begins: `desk` is told what has come, and then that it was told all.
    func connect(_ desk: TransferDesk) {
        let session = Session(self, desk)
        desk.attach(session)
        state.withLock { $0.connection = session }
        if !tellsLate { tellEnds(session) }
    }

    private func tellEnds(_ session: Session) {
        let ended = state.withLock { state in
            state.jobs.filter { $0.value.outcome != nil }.keys.sorted().shuffled(using: &state.generator)
        }
        for number in ended { tell(number, session) }
        session.queue.async { session.desk.allWasTold() }
    }

    /// The process is gone, and neither hears nor says anything more; transfers go on.
    func disconnect() {
        let session = state.withLock { state in
            defer { state.connection = nil }
            return state.connection
        }
        // What it is being told at this moment is told to its end, as the next process must not overlap with it.
        session?.queue.sync {}
    }

    /// Transfers that are begun from now on, and those that have not run yet, wait for ``release()``.
    func hold() { state.withLock { $0.isHeld = true } }

    /// Lets transfers run.
    func release() {
        let waiting = state.withLock { state in
            state.isHeld = false
            return state.jobs.filter { !$0.value.isRunning }.keys.sorted()
        }
        for number in waiting { run(number) }
    }

    /// Lets so many of the transfers run that wait, the first or the last ones; others still wait.
    func release(first: Int = 0, last: Int = 0) {
        let waiting = state.withLock { state in state.jobs.filter { !$0.value.isRunning }.keys.sorted() }
        for number in waiting.prefix(first) + waiting.suffix(last) { run(number) }
    }

    /// The requests of all transfers, in the order in which they were begun.
    var requests: [URLRequest] { state.withLock { $0.requests } }

    /// Transfers whose end was not told.
    var count: Int { state.withLock { $0.jobs.count } }

    /// Whether all transfers have ended.
    var isIdle: Bool { state.withLock { state in state.jobs.values.allSatisfy { $0.outcome != nil } } }

    /// Ends all transfers with an error, as if the network were gone.
    func failAll(_ code: URLError.Code) {
        for number in state.withLock({ Array($0.jobs.keys) }) { finish(number, .error(URLError(code))) }
    }

    private func add(_ request: URLRequest, _ description: String, from session: Session) -> Int {
        let (number, isHeld) = state.withLock { state in
            state.lastNumber += 1
            guard state.connection === session else { return (state.lastNumber, true) }
            state.jobs[state.lastNumber] = Job(request: request, description: description)
            state.requests.append(request)
            return (state.lastNumber, state.isHeld)
        }
        if !isHeld { run(number) }
        return number
    }

    private func run(_ number: Int) {
        let request = state.withLock { state -> URLRequest? in
            // One that was ended before it began never begins.
            guard let job = state.jobs[number], !job.isRunning, job.outcome == nil else { return nil }
            state.jobs[number]?.isRunning = true
            return job.request
        }
        guard var request else { return }
        if dropsConditions { request.setValue(nil, forHTTPHeaderField: "If-Match") }
        network.dataTask(with: request) { [weak self] data, response, error in
            if let response = response as? HTTPURLResponse {
                self?.finish(number, .response(response, data ?? Data()))
            } else {
                self?.finish(number, .error(error as? URLError ?? URLError(.unknown)))
            }
        }.resume()
    }

    private func finish(_ number: Int, _ outcome: Outcome) {
        let session = state.withLock { state -> Session? in
            guard state.jobs[number]?.outcome == nil else { return nil }
            state.jobs[number]?.outcome = outcome
            return state.connection
        }
        if let session { tell(number, session) }
    }

    private func cancel(_ number: Int, from session: Session) {
        guard state.withLock({ $0.connection === session }) else { return }
        finish(number, .error(URLError(.cancelled)))
    }

    private func tell(_ number: Int, _ session: Session) {
        session.queue.async { [self] in
            let job = state.withLock { state -> Job? in
                // The process may be gone by now; the next one is told then.
                guard state.connection === session else { return nil }
                return state.jobs.removeValue(forKey: number)
            }
            guard let job, let outcome = job.outcome else { return }
            for _ in 0..<(tellsTwice ? 2 : 1) { tell(job, outcome, session.desk) }
        }
    }

    private func tell(_ job: Job, _ outcome: Outcome, _ desk: TransferDesk) {
        switch outcome {
        case .error(let error): desk.ended(job.description, asked: job.request.url, error: error)
        case .response(let response, let data):
            let file = URL(fileURLWithPath: folder.path).appendingPathComponent(UUID().uuidString)
            guard (try? data.write(to: file)) != nil else { return }
            desk.arrived(job.description, response: response, asked: job.request.url, file: file)
            try? FileManager.default.removeItem(at: file)
            desk.ended(job.description, asked: job.request.url, error: nil)
        }
    }

    /// The session of one process.
    private final class Session: BackgroundSession {
        let queue = DispatchQueue(label: "reprise.test.service")
        let desk: TransferDesk
        private let service: TransferService

        init(_ service: TransferService, _ desk: TransferDesk) { (self.service, self.desk) = (service, desk) }

        func start(_ request: URLRequest, description: String) -> Int { service.add(request, description, from: self) }

        func cancel(_ number: Int) { service.cancel(number, from: self) }

        func transfers() async -> [(number: Int, description: String?)] {
            let isLate = service.tellsLate
            let found = service.state.withLock { state in
                state.jobs.filter { !isLate || $0.value.outcome == nil }
                    .map { (number: $0.key, description: Optional($0.value.description)) }
            }
            return await withCheckedContinuation { continuation in
                queue.async { [self] in
                    continuation.resume(returning: found)
                    if isLate { service.tellEnds(self) }
                }
            }
        }
    }
}
