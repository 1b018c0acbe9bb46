import Dispatch
import Foundation
import HTTPTypes
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A task that records the calls it gets and keeps receiving for as long as a test likes.
private final class HeedlessTask: TransferTask {
    enum Call: Equatable { case resume, suspend, cancel }

    let taskIdentifier = 1
    let response: URLResponse? = nil
    private let state = Mutex<[Call]>([])

    var calls: [Call] { state.withLock { $0 } }

    func resume() { state.withLock { $0.append(.resume) } }
    func suspend() { state.withLock { $0.append(.suspend) } }
    func cancel() { state.withLock { $0.append(.cancel) } }
}

@Suite("Transfers that are suspended", .limit(minutes: 1))
struct SuspendedTransferTests {
    private let task = HeedlessTask()
    private let queue = DispatchQueue(label: "test.urlsession")
    private let clock = ManualClock()
    private let cuts = Mutex(0)
    private let bounds = BufferBounds(
        suspendsAbove: 1000, resumesBelow: 200, mostAfterSuspension: 5000, longestSuspension: .seconds(10))

    /// A transfer whose head has arrived.
    private func begin() async throws -> Transfer {
        let transfer = Transfer(
            task, for: OriginRequest(url: try ResourceURL("https://example.com/a")), queue: queue,
            patience: .init(response: .seconds(30), idle: .seconds(30)), bounds: bounds,
            clock: CacheClock(clock) { Date(timeIntervalSince1970: 0) }, onCut: { [self] in cuts.withLock { $0 += 1 } })
        let url = try #require(URL(string: "https://example.com/a"))
        let fields = ["Content-Length": "1000000", "ETag": "\"v1\""]
        let response = try #require(
            HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
        async let head = transfer.start()
        try await waitForCalls { $0 == [.resume] }
        queue.sync { transfer.receive(response) }
        #expect(try await head.status == .ok)
        return transfer
    }

    private func waitForCalls(_ condition: ([HeedlessTask.Call]) -> Bool) async throws {
        await eventually { condition(task.calls) }
        try Task.checkCancellation()
    }

    private func receive(_ count: Int, _ transfer: Transfer) {
        queue.sync { transfer.receive(Data(repeating: 7, count: count)) }
    }

    /// Takes the buffered bytes; returns their length, and how the body ended.
    private func drain(_ transfer: Transfer) async -> (count: Int, code: RepriseError.Code?) {
        var count = 0
        let code = await failureCode { while let data = try await transfer.next() { count += data.count } }
        return (count, code)
    }

    @Test func oneThatGoesOnAllTheSameIsCutOffAndEndsAsTruncated() async throws {
        let transfer = try await begin()
        receive(1001, transfer)
        #expect(task.calls == [.resume, .suspend])
        for _ in 0..<5 { receive(1000, transfer) }
        #expect(task.calls == [.resume, .suspend], "so many bytes may have been on their way")
        receive(1, transfer)
        queue.sync {}
        #expect(task.calls == [.resume, .suspend, .cancel])
        receive(1000, transfer)
        let (count, code) = await drain(transfer)
        #expect(count == 6002, "what came before the end stays")
        #expect(code == .originBodyTruncated)
        #expect(cuts.withLock { $0 } == 1)
    }

    @Test func oneThatIsSuspendedForLongIsCutOff() async throws {
        let transfer = try await begin()
        receive(1001, transfer)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(9))
        queue.sync {}
        #expect(!task.calls.contains(.cancel))
        clock.advance(by: .seconds(1))
        try await waitForCalls { $0.contains(.cancel) }
        let (count, code) = await drain(transfer)
        #expect(count == 1001)
        #expect(code == .originBodyTruncated)
        #expect(cuts.withLock { $0 } == 1)
    }

    @Test func oneThatIsReadAgainGoesOn() async throws {
        let transfer = try await begin()
        receive(1001, transfer)
        await clock.waitForSleepers(1)
        clock.advance(by: .seconds(6))
        #expect(try await transfer.next()?.count == 1001)
        try await waitForCalls { $0 == [.resume, .suspend, .resume] }
        receive(1001, transfer)
        // The timer of the first suspension finds the second one, which is not old enough.
        clock.advance(by: .seconds(4))
        await clock.waitForSleepers(1)
        #expect(task.calls == [.resume, .suspend, .resume, .suspend])
        clock.advance(by: .seconds(6))
        try await waitForCalls { $0.contains(.cancel) }
    }
}
