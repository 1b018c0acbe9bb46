import Foundation

/// A client's connection to the server under test.
struct Link {
    /// How an answer is read.
    struct Manner {
        /// Bytes a second.
        var rate = Double.infinity
        /// Leaves after this many bytes of the body.
        var leavesAfter = Int64.max
        /// Pauses for this many seconds after this many bytes.
        var pause: (after: Int64, seconds: Double)?
        /// What the client is doing, for messages.
        var name: String
    }

    /// How an answer ended.
    enum End: Equatable {
        /// Completely.
        case whole
        /// The client left.
        case left
        /// The connection ended early, or the answer is an error; and why.
        case broken(String, Tally.Reason)
        /// No bytes arrived for too long.
        case silent
        /// An invalid answer.
        case wrong(String)
        /// The stage is over.
        case over
    }

    private struct Left: Error {}

    private struct Wrong: Error { let what: String }

    /// Seconds without a byte after which a client gives up: more than three of the server's timeouts.
    static let patience = 100

    /// The progress of an answer.
    private struct Progress {
        var taken: Int64?
        var version: Int?
        /// Whether the body has several parts.
        var hasParts = false

        var description: String {
            if hasParts { return "closed before the last part" }
            return taken.map { $0 > 0 ? "closed in the middle" : "closed before the body" }
                ?? "closed without an answer"
        }
    }

    let stage: Stage
    var reader: MessageReader
    private let vigil: Watchdog.Vigil

    init(_ stage: Stage, _ vigil: Watchdog.Vigil, receiveBuffer: Int) throws(Socket.Failure) {
        (self.stage, self.vigil) = (stage, vigil)
        reader = MessageReader(
            try Socket.connect(port: stage.port, receiveBuffer: receiveBuffer, timeout: Self.patience), vigil)
    }

    /// Sends requests, several at once if given.
    func send(_ asks: [Ask]) -> Bool {
        let text = asks.map { $0.text(to: stage.origins[$0.file?.origin ?? 0]) }
        return reader.socket.send(text.joined())
    }

    /// Requests a playlist of an origin.
    func send(_ path: String, of origin: FaultyOrigin) -> Bool {
        reader.socket.send("GET \(origin.target(path)) HTTP/1.1\r\nHost: localhost\r\n\r\n")
    }

    /// Reads an answer whose bytes are not known; `nil` if it is not complete.
    mutating func receiveText(
        _ request: String, lastTrouble: @escaping @Sendable () -> Double
    ) -> (status: Int, text: String)? {
        vigil.begins(request, lastTrouble: lastTrouble)
        var body: [UInt8] = []
        do {
            guard let head = try finalHead(), let status = head.status else { return nil }
            try reader.body(framing(of: head, Ask(file: nil)), most: 64 << 10) { body += $0 }
            stage.tally.change { [count = body.count] in $0.servedBytes += Int64(count) }
            return (status, String(decoding: body, as: UTF8.self))
        } catch {
            return nil
        }
    }

    /// Reads and checks the answer to a request.
    ///
    /// - Returns: How it ended, the tag it carried, and whether the connection can take another request.
    mutating func receive(_ ask: Ask, _ manner: Manner) -> (end: End, tag: TagBook.Tag?, isOpen: Bool) {
        var progress = Progress()
        vigil.begins("\(manner.name): \(ask.description)") { [stage] in stage.lastTrouble(ask.file) }
        do {
            guard let head = try finalHead() else { throw MessageReader.Failure.closed }
            let representations = ask.file?.representations(language: ask.language) ?? []
            let promise = Promise(head, to: ask, representations: representations)
            let isOpen = head["connection"]?.lowercased() != "close" && !ask.closes
            let framing = framing(of: head, ask)
            switch promise {
            case .wrong(let what): return (.wrong(what), nil, false)
            case .failure(let status):
                try reader.body(framing, most: 64 << 10) { _ in }
                return (.broken("status \(status)", stage.reason(ask, version: nil)), nil, isOpen)
            case .nothing:
                if ask.method != "HEAD" { try reader.body(framing, most: 64 << 10) { _ in } }
            case .bytes(let start, let candidates):
                guard ask.method != "HEAD" else { break }
                var check = BodyCheck(from: start, candidates: candidates)
                defer { delivered(start, framing, check, ask) }
                try read(framing, &check, &progress, manner)
                let tag = try verdict(check, head, ask)
                return (.whole, tag, isOpen && framing != .untilClose)
            case .parts(let boundary, let candidates):
                progress.hasParts = true
                var body: [UInt8] = []
                try reader.body(framing, most: 64 << 10) { body += $0 }
                stage.tally.change { [count = body.count] in $0.servedBytes += Int64(count) }
                let parts = PartsCheck(body, boundary: boundary, of: candidates, to: ask)
                if let problem = parts.problem { return (.wrong(problem), nil, false) }
            }
            return (.whole, nil, isOpen && framing != .untilClose)
        } catch is Left {
            return (.left, nil, false)
        } catch let error as Wrong {
            return (.wrong(error.what), nil, false)
        } catch MessageReader.Failure.silent {
            return (.silent, nil, false)
        } catch MessageReader.Failure.malformed(let what) {
            return (.wrong("malformed: \(what)"), nil, false)
        } catch {
            // The server is stopped at the end of a stage.
            guard stage.ending.wait(0.2) else { return (.over, nil, false) }
            let reason = stage.reason(ask, version: progress.version, hasParts: progress.hasParts)
            // Several parts must not be promised if they cannot be joined.
            let isUnexplained = reason == .unjoinable && progress.hasParts
            return (.broken(progress.description, isUnexplained ? .unexplained : reason), nil, false)
        }
    }

    private mutating func finalHead() throws -> MessageReader.Head? {
        var head = try reader.head()
        while let status = head?.status, (100..<200).contains(status) { head = try reader.head() }
        return head
    }

    private func framing(of head: MessageReader.Head, _ ask: Ask) -> MessageReader.Framing {
        if ask.method == "HEAD" || head.status == 304 || head.status == 204 { return .length(0) }
        if head["transfer-encoding"]?.lowercased() == "chunked" { return .chunked }
        return head["content-length"].flatMap { Int64($0) }.map { .length($0) } ?? .untilClose
    }

    private mutating func read(
        _ framing: MessageReader.Framing, _ check: inout BodyCheck, _ progress: inout Progress, _ manner: Manner
    ) throws {
        var taken: Int64 = 0
        progress.taken = 0
        var pause = manner.pause
        var began = Uptime.seconds
        let most = Int(min(65_536, max(4096, manner.rate / 8)))
        try reader.body(framing, most: most) { bytes in
            check.take(bytes)
            guard check.wrongBytes == 0 else {
                let provenance = Provenance(of: bytes, in: stage.library).description
                let place = "in the \(bytes.count) before \(check.position)"
                throw Wrong(what: "\(check.wrongBytes) wrong bytes \(place) after \(taken): \(provenance)")
            }
            taken += Int64(bytes.count)
            progress = Progress(taken: taken, version: check.version)
            stage.tally.change { $0.servedBytes += Int64(bytes.count) }
            if taken >= manner.leavesAfter || stage.ending.hasCome { throw Left() }
            if let now = pause, taken >= now.after {
                pause = nil
                stage.ending.wait(now.seconds)
                began += now.seconds
            }
            stage.ending.wait(began + Double(taken) / manner.rate - Uptime.seconds)
        }
    }

    private func delivered(_ start: Int64, _ framing: MessageReader.Framing, _ check: BodyCheck, _ ask: Ask) {
        if check.wrongBytes > 0 {
            stage.tally.change { $0.wrongBytes += check.wrongBytes }
        } else if let file = ask.file, let version = check.version {
            // Bytes that a client leaves in its buffer have arrived, too.
            guard case .length(let length) = framing else { return }
            let end = min(start + length, check.position + Int64(reader.waitingBytes))
            stage.wanted?.insert(start..<end, file: file.number, version: version)
        }
    }

    /// Judges a complete answer and records its tag.
    private func verdict(_ check: BodyCheck, _ head: MessageReader.Head, _ ask: Ask) throws(Wrong) -> TagBook.Tag? {
        guard let file = ask.file, let version = check.version else { return nil }
        if head.status == 200, check.position != check.candidates[0].length {
            throw Wrong(what: "200 with \(check.position) bytes of \(check.candidates[0].length)")
        }
        if file.kind == .unstored, version < file.version(at: ask.sent) { throw Wrong(what: "no-store was stored") }
        // An answer may be shared with an earlier request, which may have waited long.
        if file.kind == .playlist, version < file.version(at: ask.sent - Double(Self.patience)) {
            throw Wrong(what: "no-cache was not validated")
        }
        guard let text = head["etag"], text.hasPrefix("\"") else { return nil }
        let tag = TagBook.Tag(text: text, version: version)
        if let other = stage.tags.note(tag, file: file.number, language: ask.language) {
            throw Wrong(what: "the tag \(text) stood for versions \(other) and \(version)")
        }
        return tag
    }
}
