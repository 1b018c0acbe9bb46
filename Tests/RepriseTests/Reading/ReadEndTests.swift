import HTTPSemantics
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// A read ends without an error only after its last byte: a truncated copy must not look complete.
@Suite(.limit(minutes: 2)) struct ReadEndTests {
    /// How a program consumes a read's bytes.
    enum Consumer: CaseIterable {
        case pieces, bytes, loop

        /// Takes everything; calls `onPiece` after each piece.
        func drain(_ read: MediaRead, _ onPiece: () -> Void = {}) async throws {
            switch self {
            case .pieces: while try await read.next() != nil { onPiece() }
            case .bytes: while try await read.nextBytes() != nil { onPiece() }
            case .loop: for try await _ in read { onPiece() }
            }
        }
    }

    /// Where the bytes come from.
    enum Source: CaseIterable { case stored, fetched, pastTheStore }

    private static let length: Int64 = 4_000_000

    /// Runs `body` with a read of which 100,000 bytes are available at once, all of them if they are stored.
    private static func run(_ source: Source, _ body: (Bench, MediaRead) async throws -> Void) async throws {
        try await Bench.run { bench async throws in
            bench.publish("/a", length: length) { if source == .pastTheStore { $0.fields[.cacheControl] = "no-store" } }
            if source == .stored { _ = try await bench.bytes("/a") }
            bench.origin.hold("/a", at: 100_000)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            try await body(bench, read)
            bench.origin.release("/a")
        }
    }

    @Test("a canceled read ends with CancellationError", arguments: Consumer.allCases, Source.allCases)
    func canceledBetweenPieces(consumer: Consumer, source: Source) async throws {
        try await Self.run(source) { _, read async throws in
            await #expect(throws: CancellationError.self) { try await consumer.drain(read) { read.cancel() } }
            await #expect(throws: CancellationError.self, "again") { try await consumer.drain(read) }
        }
    }

    @Test("bytes that are put back come again, and are counted once", arguments: Source.allCases)
    func putBack(source: Source) async throws {
        try await Self.run(source) { bench, read async throws in
            let whole = TestPattern.bytes(in: 0..<Self.length, seed: 1)
            let taken = try #require(try await read.nextBytes())
            let first = [Array(taken.prefix(10)), Array(taken.dropFirst(10))]
            read.putBack(first + [[]])
            bench.origin.release("/a")
            #expect(!read.mustWait)
            var bytes: [UInt8] = []
            if case .memory(let piece)? = try await read.next() { bytes += piece.withUnsafeBytes { [UInt8]($0) } }
            #expect(bytes == first[0])
            while let more = try await read.nextBytes() { bytes += more }
            #expect(bytes == whole)
            // Also when the last one was delivered before.
            read.putBack([first[1]])
            #expect(try await read.nextBytes() == first[1])
            #expect(try await read.nextBytes() == nil)
            let served = PieceSource.allCases.reduce(0) { $0 + read.servedBytes(from: $1) }
            #expect(served == Self.length)
        }
    }

    @Test("a read that is canceled with bytes put back is incomplete", arguments: [false, true])
    func canceledAfterPutBack(isAtEnd: Bool) async throws {
        try await Self.run(.stored) { _, read async throws in
            let first = try #require(try await read.nextBytes())
            while isAtEnd, try await read.nextBytes() != nil {}
            read.putBack([first])
            read.cancel()
            await #expect(throws: CancellationError.self) { try await read.nextBytes() }
            read.putBack([first])
            await #expect(throws: CancellationError.self, "it is over") { try await read.nextBytes() }
        }
    }

    @Test("so does one canceled while it waits", arguments: Consumer.allCases, [Source.fetched, .pastTheStore])
    func canceledWhileItWaits(consumer: Consumer, source: Source) async throws {
        try await Self.run(source) { bench, read async throws in
            let taken = Happening()
            let task = Task { try await consumer.drain(read) { taken.happen() } }
            await taken.wait()
            await bench.origin.waitUntil { $0["/a"].bodyBytesSent == 100_000 }
            read.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("so does one whose task is canceled", arguments: Consumer.allCases, [Source.fetched, .pastTheStore])
    func canceledTask(consumer: Consumer, source: Source) async throws {
        try await Self.run(source) { bench, read async throws in
            let taken = Happening()
            let task = Task { try await consumer.drain(read) { taken.happen() } }
            await taken.wait()
            await bench.origin.waitUntil { $0["/a"].bodyBytesSent == 100_000 }
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
        }
    }

    @Test("canceling a read after its last byte changes nothing", arguments: Consumer.allCases)
    func canceledAfterTheEnd(consumer: Consumer) async throws {
        try await Self.run(.stored) { _, read async throws in
            try await consumer.drain(read)
            read.cancel()
            try await consumer.drain(read)
        }
    }

    @Test("an error reaches every consumer, not only the one that met it")
    func errorsStay() async throws {
        try await Self.run(.fetched) { bench, read async throws in
            _ = try await read.next()
            try await bench.cache.remove(bench.cache.resource(for: bench.origin.url("/a")).key)
            for _ in 0..<2 {
                let error = await #expect(throws: RepriseError.self) { try await read.drain() }
                #expect(error?.code == .validatorChanged)
                #expect(error?.message.contains("removed") == true)
            }
        }
    }

    @Test("closing the cache ends a read with closed", arguments: Consumer.allCases)
    func closed(consumer: Consumer) async throws {
        try await Self.run(.fetched) { bench, read async throws in
            let taken = Happening()
            let task = Task { try await consumer.drain(read) { taken.happen() } }
            await taken.wait()
            await bench.cache.close()
            let error = await #expect(throws: RepriseError.self) { try await task.value }
            #expect(error?.code == .closed)
        }
    }
}
