import Foundation
import Primitives
import RepriseTesting

/// An origin with faults on its own port, which occasionally closes and comes back on the same port.
///
/// A thread for each connection.
final class FaultyOrigin: Sendable {
    /// How often an origin restarts, and how long it is down, in seconds.
    struct Restarts: Sendable {
        let interval: ClosedRange<Double>
        let absence: ClosedRange<Double>
    }

    /// Seconds from a request to its head, and bytes per second on one connection, as recorded for the player traces in
    /// the tests.
    private static let delay = 0.02
    private static let rate = 4e6

    private struct State {
        var sentBytes: Int64 = 0
        var requests = 0
        var lastRestart = -Double.infinity
        /// `nil` while the origin is down.
        ///
        /// The only reference; releasing it frees the port.
        var listener: Socket?
        var connections: [Int: Socket] = [:]
        var nextConnection = 0
    }

    /// The name by which it is requested.
    let host: String
    let port: Int
    private let library: Library
    private let faults: FaultPlan
    private let sent: DistinctBytes?
    private let ending: Ending
    private let state = Mutex(State())

    private init(
        _ host: String, _ port: Int, _ library: Library, _ faults: FaultPlan, _ sent: DistinctBytes?, _ ending: Ending
    ) {
        (self.host, self.port) = (host, port)
        self.library = library
        self.faults = faults
        self.sent = sent
        self.ending = ending
    }

    /// Starts an origin, which ends with `ending`.
    ///
    /// `restarts` is `nil` for an origin without restarts; `sent` counts the bytes that it sends, if given.
    static func start(
        _ library: Library, host: String = "127.0.0.1", faults: FaultPlan, restarts: Restarts?, sent: DistinctBytes?,
        seed: UInt64, ending: Ending, threads: Threads
    ) throws -> FaultyOrigin {
        var random = SeededGenerator(seed: seed)
        // Below the ephemeral ports, one of which could be taken while the origin is down.
        var port = 0
        var listener: Socket?
        for _ in 0..<100 where listener == nil {
            port = Int.random(in: 10_240..<30_000, using: &random)
            listener = try? Socket.listen(port: port)
        }
        guard listener != nil else { throw SoakError("no port for an origin") }
        let origin = FaultyOrigin(host, port, library, faults, sent, ending)
        origin.state.withLock { $0.listener = listener }
        listener = nil
        threads.start { [random] in
            var random = random
            origin.listen(restarts, &random, threads)
        }
        return origin
    }

    /// Body bytes that were sent, and requests.
    var counts: (bytes: Int64, requests: Int) { state.withLock { ($0.sentBytes, $0.requests) } }

    /// When the origin last came back, in seconds of uptime; infinite while it is down.
    var lastTrouble: Double { state.withLock { $0.lastRestart } }

    /// Whether the origin was down at that time or later.
    func wasAway(since time: Double) -> Bool { lastTrouble >= time }

    /// The URL of a path.
    func url(_ path: String) -> String { "http://\(host):\(port)\(path)" }

    /// What to ask the server under test for to get `path`.
    func target(_ path: String) -> String { "/http/\(host):\(port)\(path)" }

    // MARK: Listening

    private func listen(_ restarts: Restarts?, _ random: inout SeededGenerator, _ threads: Threads) {
        while !ending.hasCome {
            let restart = restarts.map { Uptime.seconds + .random(in: $0.interval, using: &random) } ?? .infinity
            while !ending.hasCome, Uptime.seconds < restart {
                guard let socket = state.withLock({ $0.listener })?.accept(sendBuffer: 16 << 10) else { continue }
                threads.start { [self] in serve(socket) }
            }
            close()
            if let restarts { comeBack(after: .random(in: restarts.absence, using: &random)) }
        }
        close()
    }

    private func comeBack(after absence: Double) {
        ending.wait(absence)
        while !ending.hasCome {
            let listener = try? Socket.listen(port: port)
            state.withLock { state in
                state.listener = listener
                state.lastRestart = Uptime.seconds
            }
            if listener != nil { return }
            ending.wait(0.05)
        }
    }

    /// Releases the port and cuts all connections.
    private func close() {
        let sockets = state.withLock { state in
            state.listener = nil
            state.lastRestart = .infinity
            return Array(state.connections.values)
        }
        for socket in sockets { socket.cut() }
    }

    // MARK: One connection

    private func serve(_ socket: Socket) {
        let number = state.withLock { state in
            defer { state.nextConnection += 1 }
            state.connections[state.nextConnection] = socket
            return state.nextConnection
        }
        var reader = MessageReader(socket)
        while !ending.hasCome, let head = (try? reader.head()) ?? nil, answer(head, on: socket) {}
        // Releasing the last reference closes it, with RST if a fault demands it.
        state.withLock { $0.connections[number] = nil }
    }

    /// Answers one request; returns whether the connection can take another.
    private func answer(_ head: MessageReader.Head, on socket: Socket) -> Bool {
        let words = head.line.split(separator: " ").map(String.init)
        guard words.count == 3 else { return false }
        if let list = Scenery.list(at: words[1], time: Uptime.seconds) {
            state.withLock { $0.requests += 1 }
            let answer = OriginAnswer(to: head, list: list)
            return ending.wait(Self.delay) && socket.send(answer.head(now: Int64(Date().timeIntervalSince1970)))
                && (words[0] == "HEAD" || socket.send(answer.text ?? ""))
        }
        let file = library[words[1]]
        let fault = file == nil ? Fault.none : faults.next(at: Uptime.seconds)
        state.withLock { $0.requests += 1 }
        let broken = file.flatMap { fault.mayBreak($0.kind) ? $0 : nil }
        broken?.faultBegan()
        defer { broken?.faultEnded(at: Uptime.seconds) }
        if case .silence(let seconds) = fault {
            ending.wait(seconds)
            return false
        }
        let answer = OriginAnswer(to: head, method: words[0], path: words[1], file: file, fault: fault)
        guard ending.wait(Self.delay), socket.send(answer.head(now: Int64(Date().timeIntervalSince1970))) else {
            return false
        }
        guard let file, let representation = answer.representation, !answer.range.isEmpty else { return true }
        return send(file, representation, answer, fault, on: socket)
    }

    private func send(
        _ file: MediaFile, _ representation: Representation, _ answer: OriginAnswer, _ fault: Fault, on socket: Socket
    ) -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        // Bytes still in the kernel when the connection fails were not sent.
        var unsent = 0
        var place = FaultPlace(fault, answer.range)
        var position = answer.range.lowerBound
        defer {
            self.sent?.insert(answer.range.lowerBound..<position, file: file.number, version: representation.version)
        }
        var rate = Self.rate
        if case .slow(let slowRate) = fault { rate = slowRate }
        let isSlow = rate < Self.rate
        let began = Uptime.seconds
        while position < answer.range.upperBound {
            if position == place.offset {
                guard pass(place, on: socket) else { return false }
                place.offset = nil
            }
            let count = Int(
                min(Int64(isSlow ? 2048 : buffer.count), (place.offset ?? answer.range.upperBound) - position))
            let due = began + Double(position - answer.range.lowerBound) / rate
            guard ending.wait(due - Uptime.seconds) else { return false }
            let sent = buffer.withUnsafeMutableBytes { bytes in
                let piece = UnsafeMutableRawBufferPointer(rebasing: bytes[..<count])
                TestPattern.fill(piece, from: position, seed: representation.seed)
                return send(UnsafeRawBufferPointer(piece), isChunked: answer.isChunked, on: socket)
            }
            guard sent == count else {
                state.withLock { $0.sentBytes += Int64(sent - unsent) }
                return false
            }
            state.withLock { $0.sentBytes += Int64(sent) }
            unsent = socket.unsentBytes
            position += Int64(count)
        }
        return !answer.isChunked || socket.send("0\r\n\r\n")
    }

    /// Returns how many bytes of the body were sent.
    private func send(_ bytes: UnsafeRawBufferPointer, isChunked: Bool, on socket: Socket) -> Int {
        guard isChunked else { return socket.send(bytes) }
        guard socket.send("\(String(bytes.count, radix: 16))\r\n") else { return 0 }
        let sent = socket.send(bytes)
        return sent == bytes.count && !socket.send("\r\n") ? 0 : sent
    }

    /// Applies the fault at its place; returns whether the body continues.
    private func pass(_ place: FaultPlace, on socket: Socket) -> Bool {
        switch place.fault {
        case .close: return false
        case .reset:
            socket.resetsAtClose()
            return false
        case .stall(_, let seconds): return ending.wait(seconds)
        default: return true
        }
    }
}

/// Where in a body a fault occurs.
private struct FaultPlace {
    let fault: Fault
    /// `nil` once it has occurred, or if it has no place.
    var offset: Int64?

    init(_ fault: Fault, _ range: Range<Int64>) {
        self.fault = fault
        switch fault {
        case .close(let share), .reset(let share), .stall(let share, _):
            offset = range.lowerBound + Int64(Double(range.count) * share)
        default: offset = nil
        }
    }
}
