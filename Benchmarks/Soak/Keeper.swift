import Foundation
import RepriseTesting

/// Downloads, pauses, removes and looks after a running server, as its commands do, until the stage is over.
struct Keeper {
    private static let mostKept = 4

    private let stage: Stage
    private let vigil: Watchdog.Vigil
    private var random: SeededGenerator
    /// What was downloaded and not removed: its URL, and its file unless it is a stream.
    private var kept: [(url: String, file: MediaFile?)] = []

    init(_ stage: Stage, seed: UInt64) {
        self.stage = stage
        vigil = stage.watchdog.vigil(over: "keeper")
        random = SeededGenerator(seed: seed)
    }

    mutating func run() {
        while stage.ending.wait(.random(in: 0.2...2, using: &random)) {
            switch Int.random(in: 0..<10, using: &random) {
            case ..<4:
                if kept.count >= Self.mostKept { remove() }
                download()
            case ..<6: pauseOrResume()
            case ..<7: remove()
            default:
                exchange("GET", ["status.json", "titles.json", "metrics"].randomElement(using: &random) ?? "")
            }
        }
    }

    /// Begins a download; leaves soon, so that it goes on in the background.
    private mutating func download() {
        let file: MediaFile?
        let url: String
        if Bool.random(using: &random) {
            let show = Int.random(in: 0..<Scenery.shows, using: &random)
            let origin = stage.origins[Scenery.origin(ofShow: show, of: stage.origins.count)]
            (file, url) = (nil, origin.url(Scenery.showPath(show)))
        } else {
            // Small ones, since what is kept is not evicted.
            let small = stage.library.pick(using: &random) {
                $0.kind.isPlain && $0.current(language: 0).length < 4 << 20
            }
            (file, url) = (small, stage.origins[small.origin].url(small.path))
        }
        guard !kept.contains(where: { $0.url == url }) else { return }
        kept.append((url, file))
        exchange("POST", "api/download", #"{"url": "\#(url)", "names": {"dropQueryItem": []}}"#, isLeft: true)
    }

    private mutating func pauseOrResume() {
        guard let one = kept.randomElement(using: &random) else { return }
        let member = Bool.random(using: &random) ? "pause" : "resume"
        exchange("POST", "api/downloads", #"{"\#(member)": ["\#(one.url)"], "names": {"dropQueryItem": []}}"#)
    }

    /// Removes what was downloaded first; its readers are cut off.
    private mutating func remove() {
        guard !kept.isEmpty else { return }
        let (url, file) = kept.removeFirst()
        file?.faultBegan()
        exchange("POST", "api/remove", #"{"urls": ["\#(url)"], "names": {"dropQueryItem": []}}"#)
        file?.faultEnded(at: Uptime.seconds)
    }

    /// Sends a request to the server itself; a client that leaves takes no more than a few seconds of the answer.
    private mutating func exchange(_ method: String, _ path: String, _ body: String = "", isLeft: Bool = false) {
        stage.tally.change { $0.requests += 1 }
        let head = "\(method) /-/\(path) HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        let text = head + "Content-Length: \(body.utf8.count)\r\n\r\n" + body
        guard var link = try? Link(stage, vigil, receiveBuffer: 64 << 10), link.reader.socket.send(text) else {
            stage.tally.change { $0.refusedConnections += 1 }
            return
        }
        if isLeft {
            stage.ending.wait(.random(in: 0.1...4, using: &random))
            return
        }
        guard link.receiveText("\(method) \(path) \(body)", lastTrouble: { -.infinity }) == nil, stage.ending.wait(0.2)
        else { return }
        stage.tally.change { $0.brokenOff[.unexplained, default: 0] += 1 }
        stage.tally.complain("no complete answer", doing: "looking after the server", "\(path) \(body)")
    }
}
