import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// Ten thousand random histories of one host's requests.
///
/// They come, change their class, are canceled before and after they have a place, fail to connect, are pulled at any
/// speed, and end. What the slots decide takes effect later, in any order.
@Suite("Which requests to one host can move", .limit(minutes: 1))
struct HostSlotsModelTests {
    @Test("the queue waits only for what moves, and no place is lost", arguments: 0..<100)
    func tenThousandHistories(hundred: Int) throws {
        for seed in hundred * 100..<(hundred + 1) * 100 {
            var world = World(seed: UInt64(seed))
            for step in 0..<30 {
                let event = world.step()
                let problem = world.problem
                try #require(problem == nil, "seed \(seed), step \(step): \(event)")
            }
            try #require(world.settle() == nil, "seed \(seed): in the end")
            try #require(world.end() == nil, "seed \(seed): after the end")
        }
    }

    /// What a request does, as those see it who send it.
    private enum Stage {
        case queued
        /// It has a place, and no head yet.
        case asking
        case body(BodyPace.Speed)
    }

    private struct Guest {
        var demand: Demand?
        var stage = Stage.queued
        /// Whether it was told to end, and has not ended yet.
        var isEnding = false

        func isParked(atMost demand: Demand) -> Bool {
            guard case .body(.stopped) = stage, !isEnding else { return false }
            return self.demand.map { $0 <= demand } ?? true
        }

        func isAtFullSpeed(atLeast demand: Demand) -> Bool {
            guard case .body(.full) = stage else { return false }
            return self.demand.map { $0 >= demand } ?? false
        }
    }

    private struct World {
        var slots: HostSlots<Int>
        var guests: [Int: Guest] = [:]
        /// Requests that were told to end, and have not noticed.
        var told: [Int] = []
        /// Connections that were opened, and neither closed nor lost.
        var connections = 0
        var lastConnection = 0
        var random: SeededGenerator
        var surprise: String?

        init(seed: UInt64) {
            random = SeededGenerator(seed: seed)
            slots = HostSlots(
                limit: Int.random(in: 1...3, using: &random), lentLimit: Int.random(in: 0...2, using: &random),
                idleLimit: Int.random(in: 0...2, using: &random))
        }

        private static let demands: [Demand?] = [nil, .download, .preload, .seekingAhead, .playing, .playing]
        private static let speeds: [BodyPace.Speed] = [.full, .reduced, .stopped]

        private mutating func pick<T>(_ values: [T]) -> T? { values.randomElement(using: &random) }

        private mutating func guest(where isMeant: (Guest) -> Bool) -> Int? {
            pick(guests.filter { isMeant($0.value) }.keys.sorted())
        }

        /// Lets something happen; returns what.
        mutating func step() -> String {
            switch Int.random(in: 0..<12, using: &random) {
            case 0...3:
                let demand = pick(Self.demands) ?? nil
                let (number, actions) = slots.enter(demand)
                guests[number] = Guest(demand: demand)
                follow(actions)
                return "\(number) enters: \(String(describing: demand))"
            case 4:
                guard let number = guest(where: { _ in true }) else { return "nothing" }
                let demand = pick(Self.demands) ?? nil
                guests[number]?.demand = demand
                follow(slots.change(number, to: demand))
                return "\(number) changes to \(String(describing: demand))"
            case 5:
                // A cancellation is as likely to come before the place as after it.
                guard let number = guest(where: { if case .body = $0.stage { false } else { true } }) else {
                    return "nothing"
                }
                if slots.withdraw(number) { guests[number] = nil } else { release(number, isReusable: false) }
                return "\(number) is canceled, or cannot connect"
            case 6...7:
                guard let number = guest(where: { if case .asking = $0.stage { true } else { false } }) else {
                    return "nothing"
                }
                headArrives(number)
                return "\(number) has its head"
            case 8...9:
                guard let number = guest(where: { if case .body = $0.stage { true } else { false } }) else {
                    return "nothing"
                }
                let speed = pick(Self.speeds) ?? .full
                pull(number, speed)
                return "\(number) is pulled: \(speed)"
            case 10:
                guard let number = guest(where: { if case .body = $0.stage { true } else { false } }) else {
                    return "nothing"
                }
                release(number, isReusable: Bool.random(using: &random))
                return "\(number) ends"
            default: return notice()
            }
        }

        private mutating func headArrives(_ number: Int) {
            guests[number]?.stage = .body(.full)
            // What was to end it before its head came too late.
            guests[number]?.isEnding = false
            told.removeAll { $0 == number }
            follow(slots.headArrived(number))
        }

        private mutating func pull(_ number: Int, _ speed: BodyPace.Speed) {
            guests[number]?.stage = .body(speed)
            follow(slots.change(number, to: speed))
        }

        private mutating func release(_ number: Int, isReusable: Bool) {
            guests[number] = nil
            told.removeAll { $0 == number }
            lastConnection += 1
            connections += isReusable ? 1 : 0
            follow(slots.release(number, with: isReusable ? lastConnection : nil))
        }

        /// One of those that were told to end does, whichever.
        private mutating func notice() -> String {
            guard let number = pick(told) else { return "nothing" }
            release(number, isReusable: false)
            return "\(number) ends, as it was told"
        }

        private mutating func follow(_ actions: [HostSlots<Int>.Action]) {
            for action in actions {
                switch action {
                case .admit(let number, let connection):
                    if case .queued? = guests[number]?.stage {} else { surprise = "\(number) is admitted again" }
                    guests[number]?.stage = .asking
                    connections -= connection == nil ? 0 : 1
                case .withdraw(let number):
                    if case .queued? = guests[number]?.stage {} else { surprise = "\(number) is withdrawn" }
                    guests[number] = nil
                case .end(let number), .giveUp(let number):
                    if guests[number]?.isEnding != false { surprise = "\(number) is told to end again" }
                    guests[number]?.isEnding = true
                    told.append(number)
                case .close: connections -= 1
                }
            }
        }

        // MARK: - What must hold

        private var queued: [Guest] { guests.values.filter { if case .queued = $0.stage { true } else { false } } }
        private var asking: Int { guests.values.count { if case .asking = $0.stage { true } else { false } } }
        private var bodies: [Guest] { guests.values.filter { if case .body = $0.stage { true } else { false } } }

        /// Which rule is broken; `nil` if none is.
        var problem: String? {
            if let surprise { return surprise }
            if slots.queued != queued.count { return "\(slots.queued) wait instead of \(queued.count)" }
            if queued.contains(where: { $0.demand == nil }) { return "one waits that nothing wants" }
            if slots.placed < asking || slots.placed > asking + bodies.count { return "\(slots.placed) have places" }
            if slots.lentPlaces > slots.lentLimit { return "\(slots.lentPlaces) places are lent" }
            if slots.idle.count != connections { return "\(connections) are idle" }
            if slots.idle.count > slots.idleLimit { return "\(slots.idle.count) are idle" }
            guard let first = queued.compactMap(\.demand).max() else { return nil }
            if slots.placed < slots.limit { return "a place is free" }
            let mayLend = slots.lentPlaces < slots.lentLimit || bodies.contains { $0.isParked(atMost: first) }
            let unyielding = asking + bodies.count { $0.isAtFullSpeed(atLeast: first) }
            return mayLend && slots.placed > unyielding ? "a body does not give way to \(first)" : nil
        }

        /// Whatever can move moves, but for bodies: requests get their heads, those that were told to end do, and
        /// bodies of lower classes than the queue's first request are pulled no more.
        ///
        /// What the queue waits for then are bodies that move, of its class or higher ones.
        mutating func settle() -> String? {
            for _ in 0..<100 where !queued.isEmpty && problem == nil {
                let first = queued.compactMap(\.demand).max() ?? .playing
                while !told.isEmpty { _ = notice() }
                for number in guests.keys.sorted() {
                    switch guests[number]?.stage {
                    case .asking: headArrives(number)
                    case .body(.full), .body(.reduced):
                        if (guests[number]?.demand).map({ $0 < first }) ?? true { pull(number, .stopped) }
                    case .body, .queued, nil: continue
                    }
                }
            }
            if let problem { return problem }
            guard let first = queued.compactMap(\.demand).max() else { return nil }
            let moving = bodies.filter { body in
                if case .body(.stopped) = body.stage { false } else { (body.demand ?? .download) >= first }
            }
            return asking > 0 || slots.placed > moving.count ? "\(first) waits for what does not move" : nil
        }

        /// Everything ends: no place and no request is left.
        mutating func end() -> String? {
            while let number = guests.keys.sorted().first(where: { number in
                if case .queued? = guests[number]?.stage { false } else { true }
            }) {
                release(number, isReusable: false)
                if let problem { return problem }
            }
            return slots.placed > 0 || slots.lentPlaces > 0 || !guests.isEmpty ? "\(guests) are left" : nil
        }
    }
}
