import Foundation
import RepriseTesting

/// One client: plays, seeks, pauses and leaves as its seed determines, until the stage is over.
struct Player {
    let stage: Stage
    private let language: Int
    private let vigil: Watchdog.Vigil
    /// Whether it goes where many others go.
    private let isInCrowd: Bool
    var random: SeededGenerator
    /// The last tag received for each file.
    private var tags: [Int: TagBook.Tag] = [:]

    init(_ stage: Stage, number: Int, seed: UInt64) {
        self.stage = stage
        vigil = stage.watchdog.vigil(over: "client \(number)")
        isInCrowd = number.isMultiple(of: 6)
        language = number % 3
        random = SeededGenerator(seed: seed &+ UInt64(number) << 20)
    }

    mutating func run() {
        // Not all at once.
        stage.ending.wait(.random(in: 0...2, using: &random))
        while !stage.ending.hasCome {
            do throws(Socket.Failure) {
                try step()
            } catch {
                stage.tally.change { $0.refusedConnections += 1 }
                stage.ending.wait(1)
            }
            stage.ending.wait(.random(in: 0...0.5, using: &random))
        }
    }

    private mutating func step() throws(Socket.Failure) {
        if !stage.isPlain {
            if isInCrowd { return try crowd() }
            if Int.random(in: 0..<6, using: &random) == 0 { return try stress() }
        }
        switch Int.random(in: 0..<100, using: &random) {
        case ..<36: try play()
        case ..<52: try probe()
        case ..<60: try takeWhole()
        case ..<68: try pipeline()
        case ..<74: try askForHead()
        case ..<81: try askForParts()
        case ..<89: try askWithCondition()
        case ..<93: try halfClose()
        case ..<98: try leave()
        default: try askOddly()
        }
    }

    // MARK: What clients do

    /// Plays from somewhere at its rate, seeks a few times on new connections, sometimes pauses.
    private mutating func play() throws(Socket.Failure) {
        let file = pick()
        var manner = Link.Manner(rate: stage.meanRate * exp(.random(in: -1.6...1.2, using: &random)), name: "playing")
        for seek in 0..<Int.random(in: 1...4, using: &random) where !stage.ending.hasCome {
            let start = seek == 0 && Bool.random(using: &random) ? 0 : place(in: file)
            // Some listen to the end.
            let isLong = Int.random(in: 0..<15, using: &random) == 0
            manner.leavesAfter = Int64(manner.rate * .random(in: isLong ? 60...240 : 1...20, using: &random)) + 1
            manner.pause = nil
            if Int.random(in: 0..<12, using: &random) == 0 {
                // Occasionally a user goes away.
                let seconds = Int.random(in: 0..<6, using: &random) == 0 ? 30...110 : 1...8.0
                let after = Int64.random(in: 1...manner.leavesAfter, using: &random)
                manner.pause = (after, .random(in: seconds, using: &random))
            }
            manner.name = manner.pause == nil ? "playing" : "playing with a pause"
            try visit([ask(file, start == 0 && Bool.random(using: &random) ? .all : .from(start))], manner)
        }
    }

    /// Small ranges one after another on one connection, as of a player that looks for an index.
    private mutating func probe() throws(Socket.Failure) {
        let file = pick()
        var link = try connect()
        for _ in 0..<Int.random(in: 2...12, using: &random) {
            let isEnd = Int.random(in: 0..<6, using: &random) == 0
            let wanted = isEnd ? Ask.Wanted.suffix(.random(in: 1...20_000, using: &random)) : .bounded(range(in: file))
            guard request([ask(file, wanted)], Link.Manner(name: "probing"), on: &link) else { return }
            stage.ending.wait(.random(in: 0...0.3, using: &random))
        }
    }

    private mutating func takeWhole() throws(Socket.Failure) {
        let file = pick { $0.current(language: 0).length < 512 << 10 }
        try visit([ask(file, .all)], Link.Manner(rate: stage.meanRate * 10, name: "taking the whole"))
    }

    /// Sends several requests in one write.
    private mutating func pipeline() throws(Socket.Failure) {
        let asks = (0..<Int.random(in: 2...5, using: &random)).map { _ in
            let file = pick()
            return ask(file, .bounded(range(in: file)))
        }
        try visit(asks, Link.Manner(name: "pipelining"))
    }

    private mutating func askForHead() throws(Socket.Failure) {
        let file = pick()
        var head = ask(file, .all)
        head.method = "HEAD"
        try visit([head, ask(file, .bounded(range(in: file)))], Link.Manner(name: "asking for a head"))
    }

    private mutating func askForParts() throws(Socket.Failure) {
        let file = pick()
        let length = file.current(language: 0).length
        let count = Int64.random(in: 2...5, using: &random)
        let parts = (0..<count).map { part in
            let start = part * length / count
            return start..<start + min(length / count, .random(in: 1...16_384, using: &random))
        }
        let manner = Link.Manner(rate: stage.meanRate * 4, leavesAfter: 1 << 20, name: "asking for several ranges")
        try visit([ask(file, .several(Bool.random(using: &random) ? parts : parts.reversed()))], manner)
    }

    private mutating func askWithCondition() throws(Socket.Failure) {
        let known = Set(tags.keys)
        let file = known.isEmpty ? pick() : pick { known.contains($0.number) }
        var conditional = ask(file, Bool.random(using: &random) ? .all : .bounded(range(in: file)))
        conditional.condition = [.ifNoneMatch, .ifMatch, .ifRange].randomElement(using: &random) ?? .ifRange
        conditional.tag = tags[file.number]
        if conditional.tag == nil { conditional.condition = .none }
        let manner = Link.Manner(rate: stage.meanRate * 4, leavesAfter: 1 << 20, name: "asking with a condition")
        try visit([conditional], manner)
    }

    /// Sends FIN behind the request and waits for the answer (RFC 9112 §9.6).
    private mutating func halfClose() throws(Socket.Failure) {
        let file = pick()
        var link = try connect()
        var last = ask(file, .bounded(range(in: file)))
        last.closes = true
        _ = request([last], Link.Manner(name: "half-closed"), on: &link, isLast: true)
    }

    /// Requests everything and leaves in the middle, or immediately.
    private mutating func leave() throws(Socket.Failure) {
        let file = pick()
        var link = try connect()
        if Bool.random(using: &random) { link.reader.socket.resetsAtClose() }
        if Int.random(in: 0..<3, using: &random) == 0 {
            stage.tally.change { $0.requests += 1 }
            _ = link.send([ask(file, .all)])
            stage.ending.wait(.random(in: 0...0.05, using: &random))
            return
        }
        let after = Int64.random(in: 1...262_144, using: &random)
        _ = request([ask(file, .from(place(in: file)))], Link.Manner(leavesAfter: after, name: "leaving"), on: &link)
    }

    private mutating func askOddly() throws(Socket.Failure) {
        let isMissing = Bool.random(using: &random)
        let odd = isMissing ? Ask(file: nil) : ask(pick(), .beyond)
        try visit([odd], Link.Manner(leavesAfter: 65_536, name: "asking for what does not exist"))
    }

    // MARK: Requests

    func ask(_ file: MediaFile, _ wanted: Ask.Wanted) -> Ask {
        Ask(file: file, wanted: wanted, language: file.kind == .varying ? language : 0)
    }

    mutating func pick(where fits: (MediaFile) -> Bool = { _ in true }) -> MediaFile {
        stage.library.pick(using: &random) { [isPlain = stage.isPlain] in fits($0) && (!isPlain || $0.kind.isPlain) }
    }

    mutating func place(in file: MediaFile) -> Int64 {
        .random(in: 0..<file.current(language: 0).length, using: &random)
    }

    private mutating func range(in file: MediaFile) -> Range<Int64> {
        let start = place(in: file)
        return start..<start + .random(in: 1...65_536, using: &random)
    }

    mutating func connect() throws(Socket.Failure) -> Link {
        try Link(stage, vigil, receiveBuffer: .random(in: 16_384...131_072, using: &random))
    }

    private mutating func visit(_ asks: [Ask], _ manner: Link.Manner) throws(Socket.Failure) {
        var link = try connect()
        _ = request(asks, manner, on: &link)
    }

    /// Sends requests and reads their answers; returns whether the connection can take another request.
    mutating func request(
        _ asks: [Ask], _ manner: Link.Manner, on link: inout Link, isLast: Bool = false
    ) -> Bool {
        let sent = Uptime.seconds
        guard link.send(asks) else { return false }
        if isLast { link.reader.socket.finishSending() }
        for var ask in asks {
            ask.sent = sent
            let (end, tag, isOpen) = link.receive(ask, manner)
            if let file = ask.file, let tag { tags[file.number] = tag }
            guard end != .over else { return false }
            report(end, ask, manner, age: Uptime.seconds - sent)
            guard isOpen else { return false }
        }
        return true
    }

    private mutating func report(_ end: Link.End, _ ask: Ask, _ manner: Link.Manner, age: Double) {
        stage.tally.change { $0.requests += 1 }
        let age = "after \(Int(age)) s"
        switch end {
        case .whole, .left, .over: return
        case .broken(let how, let reason):
            stage.tally.change { $0.brokenOff[reason, default: 0] += 1 }
            // As players do.
            stage.ending.wait(.random(in: 0.5...3, using: &random))
            if reason == .unexplained { stage.tally.complain(how, doing: manner.name, "\(ask.description), \(age)") }
        case .silent:
            stage.tally.change { $0.silent += 1 }
            stage.tally.complain("no answer", doing: manner.name, "\(ask.description), \(age)")
        case .wrong(let what):
            stage.tally.change { $0.wrongAnswers += 1 }
            stage.tally.complain(what, doing: manner.name, "\(ask.description), \(age)")
        }
    }
}
