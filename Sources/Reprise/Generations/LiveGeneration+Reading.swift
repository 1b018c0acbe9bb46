import ByteRanges

/// What a reader gets, piece by piece.
extension LiveGeneration {
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
        rewind(reader, to: position)
        return .direct(from: position, to: ask { $0.schedule.end(of: reader) })
    }

    private func park(_ reader: ReaderID) async {
        let demand = ask { $0.schedule.readers[reader]?.demand } ?? .playing
        engine.precedence.readerWaits(demand, at: url.authority)
        defer { engine.precedence.readerGoesOn(demand, at: url.authority) }
        await wait(reader)
    }
}
