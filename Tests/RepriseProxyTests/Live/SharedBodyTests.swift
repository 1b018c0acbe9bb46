import Reprise
import Testing

@testable import RepriseProxy

@Suite("A body with several readers") struct SharedBodyTests {
    private enum Step: Equatable { case piece([UInt8]), wait, end, overtaken }

    private func take(_ body: inout SharedBody, _ reader: Int) -> Step {
        switch body.next(for: reader) {
        case .piece(let piece): .piece(piece.withUnsafeBytes { [UInt8]($0) })
        case .wait: .wait
        case .end: .end
        case .overtaken: .overtaken
        }
    }

    @Test func everyReaderGetsEveryPieceOnce() throws {
        var body = SharedBody()
        let first = SharedBody.firstReader
        body.append([1])
        let joined = body.addReader()
        let second = try #require(joined)
        body.append([2])
        #expect(take(&body, first) == .piece([1]))
        #expect(take(&body, first) == .piece([2]))
        #expect(take(&body, first) == .wait)
        #expect(!body.hasNext(for: first))
        #expect(take(&body, second) == .piece([1]))
        body.end()
        #expect(take(&body, first) == .end)
        #expect(take(&body, second) == .piece([2]))
        #expect(take(&body, second) == .end)
    }

    @Test func whatIsKeptWholeCanBeJoinedAfterItsEnd() throws {
        var body = SharedBody()
        body.append([1])
        body.end()
        body.removeReader(SharedBody.firstReader)
        #expect(!body.isWanted)
        let joined = body.addReader()
        let late = try #require(joined)
        #expect(take(&body, late) == .piece([1]))
    }

    @Test("a window drops what all readers have passed, and the fastest sets the pace") func window() throws {
        var body = SharedBody()
        let joined = body.addReader()
        let (first, second) = (SharedBody.firstReader, try #require(joined))
        let piece = [UInt8](repeating: 0, count: SharedBody.window / 2)
        for _ in 0..<3 { body.append(piece) }
        #expect(body.hasRoom, "as long as it is kept whole")
        _ = body.next(for: first)
        body.keepOnlyWindow()
        let tooLate = body.addReader()
        #expect(tooLate == nil)
        #expect(body.byteCount == 3 * piece.count, "the second reader has passed nothing")
        #expect(!body.hasRoom, "a window is ahead of the first")
        _ = body.next(for: first)
        #expect(body.hasRoom, "the second slows nothing down")
        _ = body.next(for: second)
        #expect(body.byteCount == 2 * piece.count)
        body.removeReader(second)
        #expect(body.byteCount == piece.count)
        #expect(take(&body, first) == .piece(piece))
        #expect(take(&body, second) == .end, "a reader that left")
    }

    @Test("a reader that is more than a window behind the fastest gets no more, and no end") func overtaken() throws {
        var body = SharedBody()
        let joined = body.addReader()
        let (first, second) = (SharedBody.firstReader, try #require(joined))
        body.keepOnlyWindow()
        let piece = [UInt8](repeating: 0, count: SharedBody.window / 2)
        for number in 1...3 {
            #expect(body.hasRoom)
            body.append(piece)
            #expect(take(&body, first) == .piece(piece))
            #expect(body.byteCount == min(number, 2) * piece.count)
        }
        body.end()
        #expect(body.hasNext(for: second), "it is not left waiting")
        #expect(take(&body, second) == .overtaken)
        #expect(take(&body, first) == .end)
    }
}
