import Foundation
import HTTPTypes
import Primitives
import Reprise
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

@Suite("Exchanges in memory", .limit(minutes: 1)) struct SharedExchangeTests {
    private static let rules = KeepingRules(subject: .part, isShared: false, targetDuration: .seconds(4))

    private static func response(_ pieces: Int, of size: Int = 1 << 16) throws -> OriginResponse {
        OriginResponse(
            head: HTTPResponse(status: .ok), url: try ResourceURL("https://cdn.example/part"),
            body: RepeatingBody(pieces: pieces, size: size))
    }

    private static func key(_ path: String = "/part") throws -> SharedExchanges.Key {
        SharedExchanges.Key(try ResourceURL("https://cdn.example\(path)"), range: nil, fields: [:])
    }

    private static func drain(_ reader: SharedReader) async throws -> Int {
        var count = 0
        while let piece = try await reader.next() { count += piece.count }
        return count
    }

    @Test("of requests that come at the same moment, one leads")
    func oneLeads() throws {
        let exchanges = SharedExchanges(clock: .system)
        for round in 0..<2_000 {
            let key = try Self.key("/\(round)")
            // They stay until all have come: a request without readers ends, and the next one leads again.
            let readers = Mutex<[(reader: SharedReader, part: SharedExchanges.Part)]>([])
            DispatchQueue.concurrentPerform(iterations: 4) { _ in
                let reader = exchanges.reader(of: key, fields: [:], rules: Self.rules) { try Self.response(1) }
                readers.withLock { $0.append(reader) }
            }
            #expect(readers.withLock { $0.count { $0.part == .leads } } == 1, "round \(round)")
            for (reader, _) in readers.withLock({ $0 }) { reader.leave() }
        }
    }

    @Test func aFailureReachesAllReadersAndIsNotKept() async throws {
        let exchanges = SharedExchanges(clock: .system)
        let failing: @Sendable () async throws -> OriginResponse = { throw RepriseError(.originTimedOut, "Too slow.") }
        let key = try Self.key()
        let (reader, part) = exchanges.reader(of: key, fields: [:], rules: Self.rules, ask: failing)
        #expect(part == .leads)
        await #expect(throws: RepriseError.self) { try await reader.head() }
        await eventually { exchanges.count == 0 }
        let (again, next) = exchanges.reader(of: key, fields: [:], rules: Self.rules) { try Self.response(1) }
        #expect(next == .leads)
        #expect(try await Self.drain(again) == 1 << 16)
    }

    @Test func aResponseTooLargeForTheMemoryPassesThroughAWindow() async throws {
        let exchanges = SharedExchanges(clock: .system, maximumBytes: 4 << 20)
        let key = try Self.key()
        let (reader, _) = exchanges.reader(of: key, fields: [:], rules: Self.rules) { try Self.response(1000) }
        _ = try await reader.head()
        await eventually { exchanges.byteCount > 4 << 19 }
        #expect(try await Self.drain(reader) == 1000 << 16)
        let (_, part) = exchanges.reader(of: key, fields: [:], rules: Self.rules) { try Self.response(1) }
        #expect(part == .leads, "its beginning is gone")
    }

    @Test func memoryIsGivenBack() async throws {
        let exchanges = SharedExchanges(clock: .system, maximumBytes: 4 << 20)
        for number in 0..<100 {
            let (reader, _) = exchanges.reader(of: try Self.key("/\(number)"), fields: [:], rules: Self.rules) {
                try Self.response(8)
            }
            #expect(try await Self.drain(reader) == 8 << 16)
        }
        #expect(exchanges.byteCount <= 4 << 20)
        #expect(exchanges.count < 100)
        exchanges.close()
        await eventually { exchanges.byteCount == 0 }
    }

    @Test func theRequestEndsWithItsLastReader() async throws {
        let exchanges = SharedExchanges(clock: .system)
        let ended = Happening()
        let (reader, _) = exchanges.reader(of: try Self.key(), fields: [:], rules: Self.rules) {
            await withTaskCancellationHandler {
                await Happening().waitUnlessCanceled()
            } onCancel: {
                ended.happen()
            }
            throw CancellationError()
        }
        reader.leave()
        await ended.wait()
        await eventually { exchanges.count == 0 }
    }

    @Test func whatIsKeptGoesWithTime() async throws {
        let clock = ShiftableClock()
        let exchanges = SharedExchanges(clock: clock.cacheClock)
        func drain() async throws {
            let (reader, _) = exchanges.reader(of: try Self.key(), fields: [:], rules: Self.rules) {
                try Self.response(1)
            }
            _ = try await Self.drain(reader)
        }
        try await drain()
        #expect(exchanges.byteCount > 0)
        await eventually {
            clock.shift(by: .seconds(5))
            return exchanges.byteCount == 0
        }
        #expect(exchanges.count == 0)
    }
}

extension Happening {
    /// Returns when the task is canceled.
    fileprivate func waitUnlessCanceled() async {
        await eventually { false }
    }
}

/// A body of equal pieces.
private actor RepeatingBody: OriginBody {
    private var left: Int
    private let size: Int

    init(pieces: Int, size: Int) { (left, self.size) = (pieces, size) }

    func next() async throws -> (any ByteChunk)? {
        guard left > 0 else { return nil }
        left -= 1
        return [UInt8](repeating: 7, count: size)
    }

    nonisolated func cancel() {}
}
