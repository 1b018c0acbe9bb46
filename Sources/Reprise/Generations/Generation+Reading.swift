import ByteRanges
import HTTPSemantics
import MediaTiming

/// What a reader gets, piece by piece.
extension Generation {
    enum Step: Sendable {
        case piece(MediaPiece, PieceSource)
        case end
        case direct(from: Int64, to: Int64?)
    }

    /// The next piece for `reader`; waits until its next byte is there.
    func next(_ reader: ReaderID) async throws -> Step {
        while true {
            try Task.checkCancellation()
            let (next, lease) = nextStep(of: reader)
            switch next {
            case .piece(let range, let source):
                guard let file = open() else { return bypass(reader, from: range.lowerBound) }
                guard let piece = await piece(range, file: file, lease: lease, for: reader) else { continue }
                return .piece(piece, source)
            case .verify(let range):
                guard let file = open() else { return bypass(reader, from: range.lowerBound) }
                await verify(range)
                withExtendedLifetime(file) {}
            case .wait: await park(reader)
            case .end: return .end
            case .direct(let from, let to): return .direct(from: from, to: to)
            case .fail(let error): throw error
            }
        }
    }

    /// The data file; `nil` if it cannot be opened now, in which case its stored bytes stay, or is gone.
    private func open() -> (any OpenFile)? {
        do throws(RepriseError) {
            return try bytes.file.open()
        } catch {
            engine.reporter.tell(.storeBypassed(key, reason: error.explanation))
            if error.isMissingFile { replace(reason: "\(bytes.file.path) is gone.") }
            return nil
        }
    }

    /// The rest of what `reader` wants comes from the origin.
    private func bypass(_ reader: ReaderID, from position: Int64) -> Step {
        handle { $0.schedule.rewind(reader, to: position) }
        return .direct(from: position, to: ask { $0.schedule.end(of: reader) })
    }

    private func park(_ reader: ReaderID) async {
        let demand = ask { $0.schedule.readers[reader]?.demand } ?? .playing
        engine.precedence.readerWaits(demand, at: url.authority)
        defer { engine.precedence.readerGoesOn(demand, at: url.authority) }
        await wait(reader)
    }
}

/// Verifies stored bytes before they are delivered, and reacts to a failing disk.
extension Generation {
    /// The bytes of `range`, which is stored and verified, as a region of the file or decrypted in memory.
    ///
    /// `nil` if the bytes turned out to be wrong or missing. They are a hole then, and the reader has to ask again.
    func piece(
        _ range: Range<Int64>, file: any OpenFile, lease: Lease?, for reader: ReaderID
    ) async -> MediaPiece? {
        guard bytes.isSealed else {
            let region = StoredRegion(range: range, of: self, openFile: file, lease: lease)
            if !region.isCutOff() { return .stored(region) }
            handle { $0.schedule.rewind(reader, to: range.lowerBound) }
            return nil
        }
        let (opened, fault) = await DiskQueue.shared.run { [self] in bytes.open(range) }
        withExtendedLifetime((lease, file)) {}
        if let fault { repair(fault) }
        let reached = range.lowerBound + Int64(opened.count)
        if reached < range.upperBound { handle { $0.schedule.rewind(reader, to: reached) } }
        return opened.isEmpty ? nil : .memory(OpenedBytes(bytes: opened))
    }

    private func repair(_ fault: StoredBytes.Fault) {
        switch fault {
        case .unreadable(let range): markUnreadable(range)
        case .wrong(let chunk): refuse(chunk)
        case .unrecorded(let position): makeHoles([position..<position + 1])
        }
    }

    /// Checks the stored chunks in `range` against their checksums, off the cooperative pool; wrong ones become holes.
    func verify(_ range: Range<Int64>) async {
        // Opening sealed bytes verifies them each time.
        guard !bytes.isSealed else { return markVerified(range) }
        await DiskQueue.shared.run { [self] in discard(bytes.verify(range, isRight: markVerified)) }
    }

    /// The first stored bytes that can be read, at most `count`, without a request to the origin.
    func storedBeginning(atMost count: Int64) async -> [UInt8] {
        let range = storedRanges.storedPrefix(from: 0).clamped(to: 0..<count)
        guard !range.isEmpty else { return [] }
        let lease = bytes.file.leases.take(range)
        defer { withExtendedLifetime(lease) {} }
        await verify(range)
        guard ask({ bytes.isSealed || $0.schedule.verified.contains(range) }) else { return [] }
        // Ignore read errors here. A reader of these bytes will report them.
        return await DiskQueue.shared.run { [self] in
            if bytes.isSealed { return bytes.open(range).bytes }
            return (try? bytes.file.read(at: 0, count: Int(range.upperBound))).map { Array($0) } ?? []
        }
    }

    func discard(_ wrong: [Chunk]) {
        guard !wrong.isEmpty else { return }
        bytes.discard(wrong)
        makeHoles(wrong.map(\.range))
        for chunk in wrong { engine.reporter.tell(.verificationFailed(key, range: chunk.range)) }
        store.recorder.note(self, bytes: 0)
        engine.progress.changed(key)
    }

    /// Turns a sealed chunk that does not open into a hole.
    ///
    /// If its replacement doesn't open either, the disk is losing bytes.
    private func refuse(_ chunk: Chunk) {
        let isAgain = handle { $0.disk.chunkFailed(at: chunk.start) }
        discard([chunk])
        if isAgain { leaveDiskAlone("\(bytes.file.path) does not keep what is written.") }
    }

    /// Turns bytes that cannot be read from disk into a hole.
    ///
    /// Replacement bytes are written to the same disk. If they cannot be read either, nothing more is written for a
    /// while.
    func markUnreadable(_ range: Range<Int64>) {
        let now = elapsed
        let isAgain = handle { $0.disk.readFailed(at: now) }
        discard(bytes.chunks(overlapping: range))
        unpublish(range)
        if isAgain { leaveDiskAlone("Cannot read \(bytes.file.path).") }
    }

    /// Turns all bytes beyond `end` into holes, because another program truncated the data file there.
    ///
    /// Must happen at once: a later write behind the hole would extend the file, and hide the missing bytes.
    func markCutOff(at end: Int64) {
        guard let last = storedRanges.bounds?.upperBound, last > end else { return }
        let lost = end..<last
        let chunks = bytes.chunks(overlapping: lost)
        let now = elapsed
        let isAgain = handle { $0.disk.readFailed(at: now) }
        discard(chunks)
        unpublish(lost)
        if isAgain { leaveDiskAlone("\(bytes.file.path) is cut off again and again.") }
    }

    /// Withdraws bytes that readers were promised but that cannot be written.
    func unpublish(_ range: Range<Int64>) {
        guard !range.isEmpty else { return }
        bytes.noteLost(makeHoles([range]))
        engine.progress.changed(key)
    }

    // MARK: - A failing store

    /// Writes nothing for a while, here or elsewhere in the cache, because the disk fails.
    private func leaveDiskAlone(_ reason: String) {
        // Close this store before opening the breaker, so that the first event names the failure and not the breaker.
        closeStore(reason: reason, for: Breaker.pause)
        store.breaker.open()
    }

    /// Frees the blocks of a removed entry, even if its descriptor is still held without being read.
    func emptyFileIfUnread() {
        // Frozen by now, so no new lease or reader can appear.
        guard isIdle else { return }
        bytes.file.empty()
    }
}

/// Decrypted bytes.
private struct OpenedBytes: ByteChunk {
    let bytes: [UInt8]

    var count: Int { bytes.count }

    func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
        try bytes.withUnsafeBytes(body)
    }
}

/// How far ahead of players a file is fetched, as the configuration says for its host.
extension Generation {
    /// Bytes that are read before a file's tables say which others are needed.
    private static let firstBytes: Int64 = 64 << 10

    /// Looks up the read-ahead rule when a player first reads the file with `request`.
    func settleReadAhead(for request: OriginRequest) {
        guard let rule = engine.configuration.readAhead, request.demand == .playing, handle({ $0.takeReadAhead() })
        else { return }
        let record = record
        // Players request the files of streams whole, and ahead.
        guard record.isMedia, record.role == nil else { return }
        switch rule(url.host.lowercased()) {
        case .asRequested: break
        case .bytes(let count): readAhead(.by(count))
        // Reading the tables takes further requests, whose responses must be joined to this one.
        case .seconds(let seconds): if isJoinable { measure(seconds, request: request) }
        case .toEnd:
            guard let length = record.completeLength, length <= min(store.entryLimit, store.quota.limit) else { return }
            readAhead(.whole)
        }
    }

    /// Finds out how many bytes `seconds` of playback are, and reads as many ahead.
    private func measure(_ seconds: Double, request: OriginRequest) {
        var request = request
        request.demand = .preload
        request.onInterim = nil
        let file = FileDownload(key: key, request: request, engine: engine)
        Task(priority: .userInitiated) { [self] in
            // The player meets the same error when it reads the file, and reports it.
            guard let start = try? await Self.beginning(of: file, seconds: seconds) else { return }
            if start.basis != .exact {
                engine.reporter.tell(.preloadEstimated(key, reason: start.basis.reason(in: start.format)))
            }
            readAhead(.by(start.ranges.byteCount))
        }
    }

    private static func beginning(of file: FileDownload, seconds: Double) async throws -> MediaStart {
        let first = try await file.open(.bounded(0..<firstBytes))
        defer { first.cancel() }
        return try await WindowReader.start(of: file, first: first, seconds: seconds)
    }
}
