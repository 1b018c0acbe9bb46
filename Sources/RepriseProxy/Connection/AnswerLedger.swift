import NIOCore
import Reprise

/// The answers of one connection, each counted and logged once the system has accepted its last byte.
///
/// Everything here runs on the connection's event loop.
struct AnswerLedger {
    private let service: ProxyService
    private let counts: AnswerCounts
    /// The address of the connection's other end, for the access log.
    private var peer: String?
    private var delivery = DeliveryCount()
    /// The host of the file of the last hit.
    private var host = ""
    /// The answer that is being made or sent; `nil` also for one that is not counted.
    private var current: AnswerRecord?
    /// Whether ``current`` is a hit that is sent region by region.
    private var isSendingHit = false
    /// Answers whose last bytes wait for the system: no more than two are made before it has taken them.
    private var waiting: (first: AnswerRecord?, second: AnswerRecord?)

    init(service: ProxyService, counts: AnswerCounts) {
        self.service = service
        self.counts = counts
    }

    private var log: AccessLog? { service.accessLog }

    /// The other end of the connection has this address.
    mutating func note(peer address: SocketAddress?) { if log != nil { peer = address?.ipAddress } }

    /// A request is complete, and its turn has come.
    mutating func begin(_ head: borrowing ClientHead) {
        let record = AnswerRecord(start: counts.elapsed(), method: AnswerTally.Method(head.method))
        if log != nil {
            record.request = LoggedRequest(
                head, hiding: service.tokens?.current.texts ?? TokenTexts([]), from: client(of: head),
                at: service.wallClock())
        }
        current = record
    }

    private func client(of head: borrowing ClientHead) -> String? {
        guard let peer, let forwarded = service.forwardedClient else { return peer }
        return forwarded.address(behind: peer, saying: head.value("x-forwarded-for"))
    }

    /// A request came that cannot be parsed.
    mutating func beginMalformed() {
        let record = AnswerRecord(start: counts.elapsed(), method: .other)
        if log != nil { record.request = LoggedRequest(malformedFrom: peer, at: service.wallClock()) }
        current = record
    }

    /// Who sent the request is known.
    mutating func note(_ sender: Sender?) { current?.holder = sender?.holder }

    /// Takes a place among the files that are sent to the holders of the request's token; false if they have too many.
    mutating func takePlace() -> Bool {
        switch current?.holder?.takePlace() {
        case .refused: return false
        case .taken(let place): current?.place = place
        case .free, nil: break
        }
        return true
    }

    /// The place that the answer has taken, if any.
    var place: AnswerPlace? { current?.place }

    /// The request is one that is not counted, because it concerns the server only.
    mutating func leaveOut() { current = nil }

    /// An answer that is whole was written: the proxy's own text.
    mutating func wrote(status: Int, bytes: Int) {
        current?.status = status
        current?.bodyBytes = Int64(bytes)
        awaitSystem()
    }

    // MARK: - Hits

    /// The head of a hit was written, and its body, unless that follows region by region.
    mutating func wrote(_ hit: HitAnswer) {
        host = hit.known.host
        delivery.began(of: host)
        current?.status = hit.status
        current?.source = .store
        if log != nil { current?.cacheStatus = SentHead.cacheStatus(hit.beginning) }
        guard hit.region == nil else {
            isSendingHit = true
            counts.tally.hitsUnderWay += 1
            return
        }
        delivery.wrote(hit.range.byteCount, of: host)
        note(hit.range.byteCount)
        awaitSystem()
    }

    /// The system has accepted the next bytes of a hit, and with them everything before.
    ///
    /// They count now: a film may be sent for hours, and its client may leave before its end.
    mutating func handedOver(_ count: Int64) {
        // A flush may report this before it returns.
        if current?.firstByte == nil { current?.noteFirstByte(at: counts.elapsed()) }
        delivery.wrote(count, of: host)
        note(count)
        delivered()
    }

    private mutating func note(_ count: Int64) {
        current?.served.store += count
        current?.bodyBytes += count
    }

    /// The last region of a hit was accepted.
    mutating func hitEnded() {
        endHit()
        if let record = current.take() { finish(record) }
    }

    /// A read goes on where a hit could not.
    mutating func endHit() {
        if isSendingHit { counts.tally.hitsUnderWay -= 1 }
        isSendingHit = false
    }

    // MARK: - Tasks

    /// The task that made the current answer has ended.
    mutating func taskEnded(_ reading: AnswerMeter.Reading) {
        guard let record = current.take() else { return }
        record.status = record.status ?? reading.status
        record.cacheStatus = record.cacheStatus ?? reading.cacheStatus
        record.source = record.source ?? reading.source
        record.firstByte = record.firstByte ?? reading.begun.map { $0 - record.start }
        record.served += reading.served
        record.bodyBytes += reading.bodyBytes
        finish(record)
    }

    // MARK: - The system

    private mutating func awaitSystem() {
        guard let record = current.take() else { return }
        // It is written, and not flushed yet.
        record.place?.giveBack()
        if waiting.first == nil {
            waiting.first = record
        } else {
            if let second = waiting.second { finish(second) }
            waiting.second = record
        }
    }

    /// What was written has been offered to the system, which takes at least the first byte.
    mutating func flushed() {
        let isOpen = waiting.first.map { $0.firstByte == nil } ?? false
        guard isOpen || isSendingHit && current?.firstByte == nil else { return }
        let now = counts.elapsed()
        waiting.first?.noteFirstByte(at: now)
        waiting.second?.noteFirstByte(at: now)
        if isSendingHit { current?.noteFirstByte(at: now) }
    }

    /// The system has accepted everything.
    mutating func delivered() {
        delivery.delivered(to: service.cache)
        guard let first = waiting.first.take() else { return }
        let now = counts.elapsed()
        first.noteFirstByte(at: now)
        finish(first, at: now)
        if let second = waiting.second.take() {
            second.noteFirstByte(at: now)
            finish(second, at: now)
        }
    }

    /// The connection is closed; bytes that the system never accepted were not delivered.
    ///
    /// A task that still makes an answer tells of it when it ends.
    mutating func brokenOff() {
        delivery.brokenOff(service.cache)
        for case let record? in [waiting.first.take(), waiting.second.take()] {
            record.served = SourceBytes()
            record.bodyBytes = 0
            finish(record)
        }
        if isSendingHit { hitEnded() }
    }

    private func finish(_ record: AnswerRecord, at now: Duration? = nil) {
        counts.tally.note(record)
        record.place?.giveBack()
        guard let log, let request = record.request else { return }
        log.add(
            AccessLogEntry(
                request: request, status: record.status ?? AccessLogEntry.noStatus, bytes: record.bodyBytes,
                served: record.served, firstByte: record.firstByte,
                duration: (now ?? counts.elapsed()) - record.start, tokenName: record.holder?.name,
                cacheStatus: record.cacheStatus))
    }
}

extension AnswerRecord {
    /// The first bytes were passed on at `now`, unless some were before.
    fileprivate func noteFirstByte(at now: Duration) { if firstByte == nil { firstByte = now - start } }
}

/// Responses and bytes sent as hits until the kernel has accepted them; only then do they count as served.
struct DeliveryCount {
    /// Hits one after the other of files of the same host.
    private struct Sent {
        let host: String
        var reads: Int64 = 0
        var bytes: Int64 = 0
    }

    private var sent: [Sent] = []

    mutating func began(of host: String) { change(host) { $0.reads += 1 } }
    mutating func wrote(_ count: Int64, of host: String) { change(host) { $0.bytes += count } }

    private mutating func change(_ host: String, _ change: (inout Sent) -> Void) {
        if sent.last?.host != host { sent.append(Sent(host: host)) }
        change(&sent[sent.count - 1])
    }

    /// Notes that the kernel has accepted everything.
    mutating func delivered(to cache: MediaCache) {
        for part in sent { cache.noteServed(reads: part.reads, bytes: part.bytes, of: part.host) }
        sent.removeAll(keepingCapacity: true)
    }

    /// Notes that the connection is closed; bytes that the kernel never accepted were not delivered.
    mutating func brokenOff(_ cache: MediaCache) {
        for index in sent.indices { sent[index].bytes = 0 }
        delivered(to: cache)
    }
}
