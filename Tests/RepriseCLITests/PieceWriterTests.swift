import Foundation
import Primitives
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseCLI

@Suite(.limit(minutes: 1)) struct PieceWriterTests {
    private struct Broken: Error {}

    /// Calls `work` on a thread of its own, and waits for its end.
    private func onOwnThread(_ work: @escaping @Sendable () -> Void) async {
        let done = Promise<Void>()
        Thread.detachNewThread {
            work()
            done.fulfill(())
        }
        await done.value
    }

    @Test func piecesComeInOrder() async {
        let taken = Mutex<[[UInt8]]>([])
        let writer = PieceWriter({ piece in
            await Task.yield()
            taken.withLock { $0.append(piece) }
        }) { Issue.record("nothing failed") }
        await onOwnThread { for number in 0..<100 { writer.write([UInt8(number)]) } }
        #expect(taken.withLock { $0 } == (0..<100).map { [UInt8($0)] })
        #expect(writer.error == nil)
    }

    @Test func nothingIsTakenAfterAnError() async {
        let (count, failures) = (Mutex(0), Mutex(0))
        let writer = PieceWriter({ _ in
            count.withLock { $0 += 1 }
            throw Broken()
        }) { failures.withLock { $0 += 1 } }
        await onOwnThread { for _ in 0..<3 { writer.write([1]) } }
        #expect(count.withLock { $0 } == 1 && failures.withLock { $0 } == 1)
        #expect(writer.error is Broken)
    }

    @Test("A piece that is not taken does not hold up a canceled writer") func cancellation() async {
        let begun = Promise<Void>()
        let never = Promise<Void>()
        let writer = PieceWriter({ _ in
            begun.fulfill(())
            try await never.wait()
        }) {}
        async let end: Void = onOwnThread { for _ in 0..<3 { writer.write([1]) } }
        await begun.value
        writer.cancel()
        await end
        #expect(writer.error is CancellationError)
    }
}
