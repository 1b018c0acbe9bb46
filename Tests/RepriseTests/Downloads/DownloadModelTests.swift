import Foundation
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// Ten thousand generated states of downloads, beside a naive model: facts about each download, no numbers of waits,
/// and after each event a look at all of them in their order.
@Suite(.limit(minutes: 1)) struct DownloadModelTests {
    typealias Run = DownloadQueue.Run

    /// What is known of a download.
    struct Facts {
        var isPaused = false
        var isDone = false
        /// `w` (network), `a` (authorization), `z` (space), `s` (hours) or `f` (failed).
        var problem: Character?
        var waits = 0
        /// When it goes on by itself.
        var time: Duration?
        var isSmallest = false
        /// Whether it was resumed outside of the hours.
        var ignoresHours = false
        /// The task that fetches for it, and whether that is for an earlier selection.
        var run: Run?
        var isOutdated = false

        var letter: Character { isPaused ? "p" : isDone ? "d" : problem ?? (run == nil ? "q" : "r") }
    }

    struct Model {
        let width: Int
        var order: [Int] = []
        var facts: [Int: Facts] = [:]
        /// Tasks that have not ended, and those of them that must end.
        var live: [Run: Int] = [:]
        var canceled: Set<Run> = []
        var isClosed = false

        var letters: String { String(order.map { facts[$0]?.letter ?? "?" }) }

        /// Lets what may begin wait for the hours; returns what begins otherwise.
        mutating func begin() -> [Int] {
            var begun: [Int] = []
            for number in order where facts[number]?.letter == "q" {
                if isClosed, facts[number]?.ignoresHours != true {
                    facts[number]?.problem = "s"
                    facts[number]?.time = nil
                } else if live.count + begun.count < width {
                    begun.append(number)
                }
            }
            return begun
        }

        /// It is no longer fetched for this download.
        mutating func leave(_ number: Int) {
            if let run = facts[number]?.run { canceled.insert(run) }
            facts[number]?.run = nil
        }

        /// It is wanted as if it were new.
        mutating func want(_ number: Int) {
            guard facts[number]?.letter != "r", facts[number]?.letter != "q" else { return }
            facts[number]?.isPaused = false
            facts[number]?.isDone = false
            facts[number]?.problem = nil
            facts[number]?.waits = 0
        }

        /// When the first wait ends.
        var nextRetry: Duration? { facts.values.filter { "wazs".contains($0.letter) }.compactMap(\.time).min() }
    }

    /// How a task may end, and what then keeps the download from going on.
    private static let endings: [(DownloadQueue.Ending, problem: Character?)] = [
        (.done, nil), (.canceled, nil),
        (.failed(RepriseError(.originUnreachable, "No answer.")), "w"),
        (.failed(refusal(503)), "w"), (.failed(refusal(401)), "a"), (.failed(refusal(404)), "f"),
        (.failed(RepriseError(.storageFull, "Full.")), "z"),
        (.failed(RepriseError(.validatorChanged, "Another file.")), "f"),
    ]

    private static func refusal(_ status: Int) -> RepriseError {
        RepriseError(
            .originRefused, "No.", refusal: OriginRefusal(head: .init(status: .init(code: status)), body: []))
    }

    private static func letters(_ queue: DownloadQueue) -> String {
        String(
            queue.items.map { item -> Character in
                switch item.phase {
                case .queued: "q"
                case .running: "r"
                case .waiting(.network, _): "w"
                case .waiting(.authorization, _): "a"
                case .waiting(.space, _): "z"
                case .waiting(.schedule, _): "s"
                case .paused: "p"
                case .done: "d"
                case .failed: "f"
                }
            })
    }

    @Test("pause, resume, remove, order, kill, refuse, change, evict, in any order", arguments: 0..<125)
    func tenThousandStates(seed: Int) throws {
        var simulation = try Simulation(seed: UInt64(seed))
        for step in 0..<80 {
            let event = try simulation.step()
            let (queue, model) = (simulation.queue, simulation.model)
            let place: Comment = "seed \(seed), step \(step): \(event)"
            try #require(Self.letters(queue) == model.letters, place)
            try #require(queue.items.map(\.key) == model.order.map(Simulation.key), place)
            try #require(queue.runs == Set(model.live.keys) && queue.runs.count <= model.width, place)
            try #require(queue.items.map(\.waits) == model.order.compactMap { model.facts[$0]?.waits }, place)
            try #require(queue.nextRetry == model.nextRetry, place)
        }
    }

    /// A queue and its model, to which the same things happen.
    struct Simulation {
        private(set) var queue: DownloadQueue
        private(set) var model: Model
        private var random: SeededGenerator
        private var now = Duration.zero
        /// Numbers of tasks that there were, which never come again.
        private var used: Set<Run> = []

        /// Times of day in and out of the hours.
        private static let (night, noon) = (
            Date(timeIntervalSince1970: 3 * 3600), Date(timeIntervalSince1970: 12 * 3600)
        )
        private static let numbers = 0..<7

        init(seed: UInt64) throws {
            random = SeededGenerator(seed: seed)
            let width = Int.random(in: 1...3, using: &random)
            (queue, model) = (DownloadQueue(width: width), Model(width: width))
            _ = queue.setWindow(try Self.window(), at: Self.night)
        }

        private static func window() throws -> DailyWindow {
            var window = try DailyWindow("02:00-06:00")
            window.timeZone = .gmt
            return window
        }

        static func key(_ number: Int) -> CacheKey { CacheKey("http://origin/\(number)") }

        private static func request(_ number: Int) throws -> OriginRequest {
            OriginRequest(url: try ResourceURL("http://origin/\(number)"))
        }

        private static func selection(isSmallest: Bool) -> StreamSelection {
            isSmallest ? StreamSelection(quality: .smallest) : StreamSelection()
        }

        /// Lets something happen to both; returns what.
        mutating func step() throws -> String {
            let number = Int.random(in: Self.numbers, using: &random)
            switch Int.random(in: 0..<16, using: &random) {
            case 0...2: return try add(number)
            case 3: return try pause(number)
            case 4:
                try follow(queue.resume(Self.key(number))) { model in
                    if model.facts[number]?.letter == "s" { model.facts[number]?.ignoresHours = true }
                    if model.facts[number]?.isDone == false { model.want(number) }
                }
                return "resume \(number)"
            case 5: return try remove(number)
            case 6: return try move(number)
            case 7...11: return try end()
            case 12: return try retry()
            case 13:
                try follow(queue.retryAll(waitingFor: .space)) { model in
                    for number in model.order where model.facts[number]?.letter == "z" {
                        model.facts[number]?.problem = nil
                    }
                }
                return "room was made"
            case 14: return try look()
            default: return try kill()
            }
        }

        private mutating func add(_ number: Int) throws -> String {
            let isSmallest = Int.random(in: 0..<4, using: &random) == 0
            let selection = Self.selection(isSmallest: isSmallest)
            let effects = queue.add(Self.key(number), request: try Self.request(number), selection: selection)
            try follow(effects) { model in
                guard let facts = model.facts[number] else {
                    model.order.append(number)
                    return model.facts[number] = Facts(isSmallest: isSmallest)
                }
                model.facts[number]?.isSmallest = isSmallest
                if facts.letter == "r", facts.isSmallest != isSmallest, let run = facts.run {
                    model.facts[number]?.isOutdated = true
                    model.canceled.insert(run)
                }
                model.want(number)
            }
            return "add \(number)"
        }

        private mutating func pause(_ number: Int) throws -> String {
            let mayPause = queue.mayPause(Self.key(number))
            try #require(mayPause == (model.facts[number].map { !$0.isDone } ?? false))
            try follow(queue.pause(Self.key(number))) { model in
                guard model.facts[number]?.isDone == false else { return }
                model.leave(number)
                model.facts[number]?.isPaused = true
                model.facts[number]?.ignoresHours = false
                model.facts[number]?.problem = nil
            }
            return "pause \(number)"
        }

        private mutating func remove(_ number: Int) throws -> String {
            try follow(queue.remove([Self.key(number)])) { model in
                model.leave(number)
                model.facts[number] = nil
                model.order.removeAll { $0 == number }
            }
            return "remove \(number)"
        }

        private mutating func move(_ number: Int) throws -> String {
            let other = Int.random(in: 0..<9, using: &random)
            queue.move(Self.key(number), before: Self.key(other))
            if number != other, let place = model.order.firstIndex(of: number) {
                model.order.remove(at: place)
                model.order.insert(number, at: model.order.firstIndex(of: other) ?? model.order.endIndex)
            }
            return "move \(number) before \(other)"
        }

        /// A task ends, as it would anyway or because it was canceled.
        private mutating func end() throws -> String {
            guard let run = model.live.keys.sorted().randomElement(using: &random), let number = model.live[run],
                let ending = DownloadModelTests.endings.randomElement(using: &random)
            else { return "nothing runs" }
            let effects = queue.end(run, of: Self.key(number), with: ending.0, at: now)
            let isRetried = ["w", "z"].contains(ending.problem)
            try follow(effects) { [now] model in
                model.live[run] = nil
                model.canceled.remove(run)
                guard model.facts[number]?.run == run, var facts = model.facts[number] else { return }
                facts.run = nil
                if facts.isOutdated {
                    facts.waits = 0
                } else if case .done = ending.0 {
                    (facts.isDone, facts.waits, facts.ignoresHours) = (true, 0, false)
                } else if let problem = ending.problem {
                    facts.problem = problem
                    if problem != "f" { facts.waits += 1 }
                    if problem != "f" {
                        facts.time = isRetried ? now + Self.pauses[min(facts.waits, Self.pauses.count) - 1] : nil
                    }
                }
                facts.isOutdated = false
                model.facts[number] = facts
            }
            return "\(number) ends: \(ending)"
        }

        private static let pauses = [5, 10, 20, 40, 80, 160, 300].map { Duration.seconds($0) }

        private mutating func retry() throws -> String {
            now += .seconds(Int.random(in: 1...100, using: &random))
            try follow(queue.retry(at: now)) { [now] model in
                for (number, facts) in model.facts where "wazs".contains(facts.letter) {
                    if let time = facts.time, time <= now { model.facts[number]?.problem = nil }
                }
            }
            return "it is \(now)"
        }

        private mutating func look() throws -> String {
            let isClosed = Int.random(in: 0..<3, using: &random) == 0
            try follow(queue.look(at: isClosed ? Self.noon : Self.night)) { model in
                model.isClosed = isClosed
                for number in model.order {
                    if isClosed, model.facts[number]?.ignoresHours != true { model.leave(number) }
                    if model.facts[number]?.letter == "s" { model.facts[number]?.problem = nil }
                }
            }
            return isClosed ? "the hours end" : "the hours begin"
        }

        /// The process is killed; of what is recorded, the next one makes its queue.
        private mutating func kill() throws -> String {
            guard Int.random(in: 0..<3, using: &random) == 0 else { return "nothing" }
            let recorded = try model.order.map { number in
                var item = DownloadQueue.Item(key: Self.key(number), request: try Self.request(number))
                item.selection = Self.selection(isSmallest: model.facts[number]?.isSmallest == true)
                item.phase =
                    switch model.facts[number]?.letter {
                    case "d": .done
                    case "p": .paused
                    default: .queued
                    }
                return item
            }
            queue = DownloadQueue(width: model.width)
            _ = queue.setWindow(try Self.window(), at: model.isClosed ? Self.noon : Self.night)
            used = []
            try follow(queue.restore(recorded, at: now)) { model in
                (model.live, model.canceled) = ([:], [])
                for number in model.order {
                    let facts = model.facts[number] ?? Facts()
                    model.facts[number] = Facts(
                        isPaused: facts.isPaused, isDone: facts.isDone, isSmallest: facts.isSmallest)
                }
            }
            return "killed"
        }

        /// Changes the model, and compares the effects that the queue asked for.
        private mutating func follow(
            _ effects: [DownloadQueue.Effect], _ change: (inout Model) -> Void
        ) throws {
            let before = model.canceled
            change(&model)
            var begun: [(run: Run, number: Int)] = []
            var canceled: Set<Run> = []
            for effect in effects {
                switch effect {
                case .start(let run, let item):
                    let number = try #require(model.order.first { Self.key($0) == item.key })
                    try #require(used.insert(run).inserted)
                    try #require(
                        item.selection == Self.selection(isSmallest: model.facts[number]?.isSmallest == true))
                    begun.append((run, number))
                case .cancel(let run): canceled.insert(run)
                }
            }
            let beginning = model.begin()
            try #require(begun.map(\.number) == beginning, "they begin in their order")
            for (run, number) in begun {
                model.live[run] = number
                model.facts[number]?.run = run
                model.facts[number]?.isOutdated = false
            }
            // One that was to end already may be told once more.
            try #require(model.canceled.subtracting(before).isSubset(of: canceled))
            try #require(canceled.isSubset(of: model.canceled), "what is wanted goes on")
        }
    }
}
