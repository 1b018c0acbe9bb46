import ByteRanges
import HTTPSemantics
import Primitives
import RepriseTesting

@testable import Reprise

/// One file with readers and fetches, without tasks, locks or I/O: a scheduler picks the next step at random.
///
/// The state is that of a generation. Readers and fetches do what ``Generation`` and ``FetchRun`` do between
/// two looks at it, and what they leave to be done outside the lock is done at any later time.
struct FetchWorld {
    /// What the world did wrong.
    struct Fault: Error, CustomStringConvertible { let description: String }

    /// When decisions are carried out.
    enum Order {
        /// Under the lock; what is left follows in the order of the decisions.
        case asDecided
        /// At any time after the lock was released, in any order.
        case any
    }

    private static let length: Int64 = 600_000
    private static let chunks: ClosedRange<Int64> = 1...120_000

    private struct Player {
        enum Phase {
            case ready, parking, over
            case waiting(Flag<Void>)
        }

        var phase = Phase.ready
        let id: FetchSchedule.ReaderID
        let demand: Demand
        let end: Int64
        /// Whether it takes nothing for now.
        var isPaused = false
        var hasLeft = false

        var isOver: Bool { if case .over = phase { true } else { false } }
    }

    private struct Run {
        enum Phase {
            case turn, claim, asking, drain, demand
            case parked(Flag<FetchHandle.Parking>)
        }

        var phase = Phase.turn
        let id: FetchSchedule.FetchID
        let interest: RequestInterest
        var body: Body?
        var isGivenBack = false
    }

    private enum Step {
        case effect, late
        case player(Int)
        case run(Int)
        case linger(Int)
    }

    private var random: SeededGenerator
    private let order: Order
    private let tasks = NotedTasks()
    private var state: GenerationState
    private var precedence = PrecedenceTable()
    private var players: [Player] = []
    private var runs: [Run] = []
    private var lingering: [(id: FetchSchedule.FetchID, timer: Task<Void, Never>)] = []
    /// Left to be done outside the lock.
    private var outbox: [GenerationEffect] = []
    /// Decisions that are not carried out yet.
    private var late: [FetchSchedule.Effect] = []
    private(set) var log: [String] = []

    init(seed: UInt64, order: Order) throws {
        random = SeededGenerator(seed: seed)
        self.order = order
        state = try Self.state(isKnown: Int.random(in: 0..<4, using: &random) > 0)
    }

    /// The state of the file before anything has arrived.
    static func state(isKnown: Bool = true) throws -> GenerationState {
        let url = try ResourceURL("http://origin/film.mp4")
        let record = GenerationRecord(
            id: 1, key: CacheKey("http://origin/film.mp4"), url: url, fields: [.eTag: "\"a\""],
            completeLength: isKnown ? length : nil, rangesSupported: isKnown ? true : nil,
            finalHost: url.authority, requestTime: 0, responseTime: 0, salt: [])
        var schedule = FetchSchedule(completeLength: record.completeLength, rangesSupported: record.rangesSupported)
        schedule.largestPiece = 200_000
        return GenerationState(
            schedule: schedule,
            response: StoredResponse(record, policy: ReusePolicy(), isConfirmed: true, at: .zero),
            origin: OriginHealth(url: url, policy: ReusePolicy()))
    }

    // MARK: - The whole

    /// Lets things happen, and then lets every reader come to its end; a wait without an end is a fault.
    mutating func run(steps: Int = 60) throws {
        for _ in 0..<steps {
            if Int.random(in: 0..<5, using: &random) == 0 { happen() } else { try step() }
        }
        for index in players.indices { players[index].isPaused = false }
        var count = 0
        while try step() {
            count += 1
            guard count < 3_000 else { throw Fault(description: "no reader gets anywhere") }
        }
        for player in players where !player.isOver {
            throw Fault(description: "\(player.demand) reader \(player.id.number) waits for ever")
        }
        guard runs.isEmpty else {
            throw Fault(description: "fetch \(runs[0].id.number) has no reader and does not end")
        }
    }

    /// Something from outside.
    private mutating func happen() {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<5: begin()
        case 5..<9:
            guard let index = players.indices.filter({ !players[$0].hasLeft }).randomElement(using: &random) else {
                return begin()
            }
            leave(index)
            // A seek, mostly.
            if Int.random(in: 0..<3, using: &random) > 0 { begin() }
        case 9:
            guard let index = players.indices.randomElement(using: &random) else { return }
            players[index].isPaused.toggle()
        case 10:
            let aheads: [FetchSchedule.Ahead] = [.asRead, .by(100_000), .whole, .toEnd]
            guard let ahead = aheads.randomElement(using: &random) else { return }
            log.append("read ahead \(ahead)")
            state.setReadAhead(ahead, at: 0)
            state.startAhead(.immutable)
            decide()
        default:
            let start = Int64.random(in: 0..<Self.length, using: &random)
            state.schedule.discard([start..<min(start + 100_000, Self.length)])
        }
    }

    private mutating func begin() {
        let start = Int64.random(in: 0..<Self.length, using: &random)
        let end = Bool.random(using: &random) ? Self.length : min(start + 50_000, Self.length)
        let demands: [Demand] = [.playing, .playing, .playing, .seekingAhead, .preload, .download]
        let demand = demands.randomElement(using: &random) ?? .playing
        let id = state.schedule.addReader(start, to: end, demand: demand)
        log.append("\(demand) reader \(id.number) begins at \(start)")
        players.append(Player(id: id, demand: demand, end: end))
    }

    private mutating func leave(_ index: Int) {
        log.append("reader \(players[index].id.number) leaves")
        players[index].hasLeft = true
        state.removeReader(players[index].id)
        decide()
        if case .ready = players[index].phase { players[index].phase = .over }
    }

    // MARK: - Steps

    /// Takes a step of those that are possible; false if none is.
    @discardableResult
    private mutating func step() throws -> Bool {
        guard let next = possible().randomElement(using: &random) else { return false }
        switch next {
        case .effect: outbox.removeFirst().perform()
        case .late: carryOut([late.remove(at: Int.random(in: late.indices, using: &random))])
        case .player(let index): step(player: index)
        case .run(let index): step(run: index)
        case .linger(let index):
            let (id, timer) = lingering.remove(at: index)
            if !timer.isCancelled { state.lingerExpired(id) }
            decide()
        }
        players.removeAll(where: \.isOver)
        if order == .asDecided { try check() }
        return true
    }

    private func possible() -> [Step] {
        var steps: [Step] = []
        if !outbox.isEmpty { steps.append(.effect) }
        if !late.isEmpty { steps.append(.late) }
        for (index, player) in players.enumerated() {
            switch player.phase {
            case .waiting(let flag) where flag.value == nil: break
            case .ready where player.isPaused: break
            default: steps.append(.player(index))
            }
        }
        for (index, run) in runs.enumerated() {
            switch run.phase {
            case .parked(let flag) where flag.value == nil: break
            case .turn where givesWay(run), .drain where givesWay(run): break
            default: steps.append(.run(index))
            }
        }
        for index in lingering.indices { steps.append(.linger(index)) }
        return steps
    }

    private func givesWay(_ run: Run) -> Bool {
        guard let demand = run.interest.demand, demand < .playing else { return false }
        return precedence.isOutranked(demand, at: "origin")
    }

    /// A waiting reader waits for a fetch that can move: one that runs, is not parked, and gives way to no such reader.
    private func check() throws {
        for player in players {
            guard case .waiting(let flag) = player.phase, flag.value == nil else { continue }
            func require(_ condition: Bool, _ words: String) throws {
                guard !condition else { return }
                throw Fault(description: "\(player.demand) reader \(player.id.number) waits for a fetch that \(words)")
            }
            guard let id = state.schedule.readers[player.id]?.waitingOn else {
                try require(!outbox.isEmpty, "is over")
                continue
            }
            guard let fetch = state.schedule.fetches[id], let run = runs.first(where: { $0.id == id }) else {
                throw Fault(description: "reader \(player.id.number) waits for a fetch that does not run")
            }
            try require(run.interest.demand == fetch.demand, "is wanted in another class")
            try require(state.schedule.fetches[id]?.handle?.parkedSince == nil, "is parked")
            if fetch.phase == .ending {
                try require(fetch.hasResponse, "was canceled and brings nothing")
                try require(fetch.demand == nil, "was canceled and gives way")
            } else {
                try require(fetch.phase == .active, "is \(fetch.phase)")
                try require(fetch.demand ?? .download >= player.demand, "gives way to it")
                try require(!state.isCancelled(id), "was canceled")
            }
        }
    }

    // MARK: - Decisions

    /// Takes in what the last change of the state has decided.
    private mutating func decide() {
        let decisions = state.takeDecisions()
        switch order {
        case .asDecided: carryOut(decisions)
        case .any: late += decisions
        }
        outbox += state.settle(with: tasks, at: .zero)
    }

    private mutating func carryOut(_ effects: [FetchSchedule.Effect]) {
        if !effects.isEmpty { log.append("  \(effects)") }
        state.carryOut(effects, with: tasks, at: .zero)
        outbox += state.settle(with: tasks, at: .zero)
        let (begun, lingers) = tasks.take()
        runs += begun.map { Run(id: $0.id, interest: $0.interest) }
        lingering += lingers
    }

    // MARK: - A reader

    private mutating func step(player index: Int) {
        let player = players[index]
        switch player.phase {
        case .over: break
        case .ready: ask(index)
        case .parking:
            let flag = Flag<Void>()
            state.park(player.id, at: .zero) { flag.raise(()) }
            decide()
            players[index].phase = .waiting(flag)
        case .waiting:
            precedence.readerGoesOn(player.demand, at: "origin")
            players[index].phase = player.hasLeft ? .over : .ready
        }
    }

    private mutating func ask(_ index: Int) {
        let player = players[index]
        let next = state.next(player.id, joinDistance: 64 << 10, policy: .immutable)
        decide()
        switch next {
        case .piece: break
        case .verify(let range): state.schedule.markVerified(range)
        case .wait:
            precedence.readerWaits(player.demand, at: "origin")
            players[index].phase = .parking
        case .direct(_, let end): state.schedule.rewind(player.id, to: end ?? player.end)
        case .end, .fail: leave(index)
        }
    }

    // MARK: - A fetch

    private mutating func step(run index: Int) {
        let (run, id) = (runs[index], runs[index].id)
        switch run.phase {
        case .turn: runs[index].phase = .claim
        case .claim:
            let isClaimed = state.claim(id, joinDistance: 64 << 10, policy: .immutable)
            if isClaimed, state.rest(of: id) != nil { runs[index].phase = .asking } else { end(index) }
        case .asking:
            guard Int.random(in: 0..<12, using: &random) > 0 else { return fail(index) }
            let body = Body()
            if !state.attach(body, to: id, at: .zero) { body.cancel() }
            let isFirst = state.schedule.rangesSupported != true
            state.schedule.learn(completeLength: Self.length, rangesSupported: true)
            state.takeOver(id, isFirstProof: isFirst)
            decide()
            (runs[index].body, runs[index].isGivenBack, runs[index].phase) = (body, false, .drain)
        case .drain: drain(index)
        case .demand:
            guard advance(id, by: nil) == .pause else {
                runs[index].phase = run.isGivenBack ? .turn : .drain
                return
            }
            let flag = Flag<FetchHandle.Parking>()
            if case .refused = state.park(id, at: .zero, unpark: { flag.raise($0) }) { return }
            runs[index].phase = .parked(flag)
            // Parked for long, sometimes.
            if Int.random(in: 0..<4, using: &random) == 0 {
                _ = state.checkParking(id, limit: .zero, policy: .immutable, at: .zero)
                decide()
            }
        case .parked(let flag):
            runs[index].isGivenBack = run.isGivenBack || flag.value == .givenBack
            runs[index].phase = .demand
        }
    }

    private mutating func drain(_ index: Int) {
        let (run, id) = (runs[index], runs[index].id)
        guard run.body?.isCancelled != true else { return end(index) }
        guard Int.random(in: 0..<20, using: &random) > 0 else { return fail(index) }
        guard let rest = state.rest(of: id) ?? state.schedule.fetches[id].map({ $0.cursor..<($0.limit ?? .max) }),
            !rest.isEmpty
        else { return end(index) }
        let most = min(rest.upperBound, Self.length) - rest.lowerBound
        let count = min(Int64.random(in: Self.chunks, using: &random), most)
        switch advance(id, by: count) {
        case .finished: end(index)
        case .pause: runs[index].phase = .demand
        case .go: if count == most { end(index) }
        }
    }

    private mutating func advance(_ id: FetchSchedule.FetchID, by count: Int64?) -> FetchSchedule.Verdict {
        defer { decide() }
        return state.advance(id, by: count, at: .zero)
    }

    /// The request or the body of a fetch failed.
    private mutating func fail(_ index: Int) {
        let id = runs[index].id
        if state.endUnlessAwaited(id) != nil {
            runs.remove(at: index)
            return decide()
        }
        log.append("fetch \(id.number) tries again")
        state.detach(id, at: .zero)
        (runs[index].body, runs[index].phase) = (nil, .turn)
    }

    private mutating func end(_ index: Int) {
        let id = runs.remove(at: index).id
        log.append("fetch \(id.number) ends")
        state.end(id, reachedEnd: false, failure: nil, isShared: false)
        state.startAhead(.immutable)
        decide()
    }
}

/// Something that happens once, seen by the world's scheduler.
private final class Flag<Value: Sendable>: Sendable {
    private let raised = Mutex<Value?>(nil)

    var value: Value? { raised.withLock { $0 } }

    func raise(_ value: Value) { raised.withLock { $0 = value } }
}

private final class Body: OriginBody {
    private let flag = Flag<Void>()

    var isCancelled: Bool { flag.value != nil }

    func next() async throws -> (any ByteChunk)? { nil }
    func cancel() { flag.raise(()) }
}

/// Notes which tasks would begin.
final class NotedTasks: FetchTasks, Sendable {
    private struct State {
        var begun: [(id: FetchSchedule.FetchID, interest: RequestInterest)] = []
        var lingering: [(id: FetchSchedule.FetchID, timer: Task<Void, Never>)] = []
    }

    private let state = Mutex(State())
    private let none = Task<Void, Never> {}

    func run(
        _ id: FetchSchedule.FetchID, request: OriginRequest, interest: RequestInterest, answer: OriginAnswer?
    ) -> Task<Void, Never> {
        state.withLock { $0.begun.append((id, interest)) }
        return none
    }

    func linger(_ id: FetchSchedule.FetchID) -> Task<Void, Never> {
        let timer = Task<Void, Never> {}
        state.withLock { $0.lingering.append((id, timer)) }
        return timer
    }

    /// What has begun since the last call.
    func take() -> (
        begun: [(id: FetchSchedule.FetchID, interest: RequestInterest)],
        lingering: [(id: FetchSchedule.FetchID, timer: Task<Void, Never>)]
    ) {
        state.withLock { state in
            defer { state = State() }
            return (state.begun, state.lingering)
        }
    }
}
