import Foundation
import RepriseTesting

/// What clients do only where origins have faults: live streams, hostile playlists, seeks in a row, and not reading.
extension Player {
    mutating func stress() throws(Socket.Failure) {
        switch Int.random(in: 0..<12, using: &random) {
        case ..<5: try watchLive()
        case ..<8: try scrub()
        case ..<10: try holdWithoutReading()
        default: if stage.isHostile { try askForHostileList() }
        }
    }

    /// Watches a live stream, from three segments before its end.
    private mutating func watchLive() throws(Socket.Failure) {
        let channel = Int.random(in: 0..<Scenery.channels, using: &random)
        let origin = stage.origins[channel % stage.origins.count]
        let path = Scenery.livePath(channel)
        var link = try connect()
        var (first, next) = (0, 0)
        let end = Uptime.seconds + .random(in: 5...60, using: &random)
        while Uptime.seconds < end, !stage.ending.hasCome {
            let asked = Uptime.seconds
            guard let list = read(path, of: origin, "watching live", on: &link), list.status == 200 else { return }
            let segments = Scenery.segments(in: list.text)
            guard let oldest = segments.first?.number, let newest = segments.last?.number else {
                return complain("a live list without segments", doing: "watching live", path)
            }
            if oldest < first {
                complain("a live list went back", doing: "watching live", "\(path): \(oldest), \(first)")
            }
            let due = Scenery.newest(at: asked - Self.liveDelay)
            // What the origin had before it failed is served on.
            if newest < due, !origin.wasAway(since: asked - Self.liveDelay) {
                complain("an old live list", doing: "watching live", "\(path): \(newest), \(due) is due")
            }
            first = max(first, oldest)
            for (number, path) in segments where number >= max(next, newest - 2) {
                next = number + 1
                guard let file = stage.library[path] else { continue }
                let manner = Link.Manner(rate: 400_000, name: "watching a segment")
                guard request([Ask(file: file)], manner, on: &link) else {
                    link = try connect()
                    continue
                }
            }
            stage.ending.wait(.random(in: 0.5...2, using: &random))
        }
    }

    /// Reads small and large parts of a new file, as many others do at that moment, and leaves most of them.
    mutating func crowd() throws(Socket.Failure) {
        let file = stage.library.premiere(at: Uptime.seconds)
        var link = try connect()
        for _ in 0..<8 {
            let start = place(in: file)
            let size: Int64 = [10, 1000, 70_000, 400_000].randomElement(using: &random) ?? 10
            let wanted =
                Int.random(in: 0..<4, using: &random) == 0 ? Ask.Wanted.from(start) : .bounded(start..<start + size)
            let leavesAfter = Bool.random(using: &random) ? 100_000 : Int64.max
            let rate = Bool.random(using: &random) ? 3e6 : .infinity
            let manner = Link.Manner(rate: rate, leavesAfter: leavesAfter, name: "in a crowd")
            if !request([ask(file, wanted)], manner, on: &link) { link = try connect() }
        }
    }

    /// How old a live list may be, in seconds.
    private static var liveDelay: Double { 30 }

    /// Seeks many times in a row, as when a user drags the slider, and leaves old connections open with unread answers.
    private mutating func scrub() throws(Socket.Failure) {
        let file = pick()
        var links: [Link] = []
        for _ in 0..<Int.random(in: 3...8, using: &random) {
            var link = try connect()
            let after = Int64.random(in: 1...40_000, using: &random)
            _ = request(
                [ask(file, .from(place(in: file)))], Link.Manner(leavesAfter: after, name: "scrubbing"), on: &link)
            links.append(link)
            if links.count > 3 { links.removeFirst() }
        }
        var link = try connect()
        let manner = Link.Manner(rate: stage.meanRate * 4, leavesAfter: 1 << 20, name: "playing after seeks")
        _ = request([ask(file, .from(place(in: file)))], manner, on: &link)
    }

    /// Requests a file and takes nothing of it for a while.
    private mutating func holdWithoutReading() throws(Socket.Failure) {
        let link = try connect()
        stage.tally.change { $0.requests += 1 }
        guard link.send([ask(pick(), .all)]) else { return }
        stage.ending.wait(.random(in: 5...120, using: &random))
    }

    private mutating func askForHostileList() throws(Socket.Failure) {
        let number = Int(pow(Double.random(in: 0..<1, using: &random), 2) * Double(Scenery.hostiles))
        let path = Scenery.hostilePath(number)
        var link = try connect()
        if Int.random(in: 0..<4, using: &random) == 0 {
            _ = link.send(path, of: stage.origins[number % stage.origins.count])
            stage.ending.wait(.random(in: 0...2, using: &random))
            return
        }
        _ = read(path, of: stage.origins[number % stage.origins.count], "asking for a hostile list", on: &link)
    }

    /// Reads a playlist; `nil` without a complete answer, which is counted.
    private mutating func read(
        _ path: String, of origin: FaultyOrigin, _ doing: String, on link: inout Link
    ) -> (status: Int, text: String)? {
        stage.tally.change { $0.requests += 1 }
        guard link.send(path, of: origin),
            let answer = link.receiveText("\(doing) \(path)", lastTrouble: { origin.lastTrouble })
        else {
            guard stage.ending.wait(0.2) else { return nil }
            let isExplained = origin.wasAway(since: Uptime.seconds - Stage.aftermath)
            stage.tally.change { $0.brokenOff[isExplained ? .restart : .unexplained, default: 0] += 1 }
            if !isExplained { stage.tally.complain("no complete answer", doing: doing, path) }
            return nil
        }
        return answer
    }

    private func complain(_ what: String, doing: String, _ detail: String) {
        stage.tally.change { $0.wrongAnswers += 1 }
        stage.tally.complain(what, doing: doing, detail)
    }
}
