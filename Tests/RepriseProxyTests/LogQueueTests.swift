import Dispatch
import Primitives
import Logging
import TestLimits
import Testing

@testable import RepriseProxy

/// A log whose reader has stopped.
@Suite(.limit(minutes: 1)) struct LogQueueTests {
    /// Records lines, and waits before the first one until it may continue.
    private struct StoppedHandler: LogHandler {
        let gate: DispatchSemaphore
        let lines: Lines
        var logLevel = Logger.Level.trace
        var metadata = Logger.Metadata()

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            if lines.isEmpty { gate.wait() }
            lines.add("\(event.message)" + (event.metadata?["url"].map { " \($0)" } ?? ""))
        }
    }

    private final class Lines: Sendable {
        private let lines = Mutex<[String]>([])

        var isEmpty: Bool { lines.withLock { $0.isEmpty } }
        var all: [String] { lines.withLock { $0 } }

        func add(_ line: String) { lines.withLock { $0.append(line) } }
    }

    @Test func longValuesAreCut() async {
        let (gate, lines) = (DispatchSemaphore(value: 0), Lines())
        gate.signal()
        let queue = LogQueue(Logger(label: "test") { _ in StoppedHandler(gate: gate, lines: lines) })
        queue.log(.info, "a", metadata: ["url": "\(String(repeating: "x", count: 5000))"])
        queue.log(.info, "b", metadata: ["url": "\(String(repeating: "x", count: 1000))"])
        while lines.all.count < 2 { await queue.drain() }
        #expect(lines.all.map(\.count) == [2 + 1024 + 1, 2 + 1000])
    }

    @Test func noCallerWaitsAndWhatFindsNoRoomIsCounted() async {
        let (gate, lines) = (DispatchSemaphore(value: 0), Lines())
        let queue = LogQueue(Logger(label: "test") { _ in StoppedHandler(gate: gate, lines: lines) })
        for number in 0..<10_000 { queue.log(.info, "\(number)", metadata: [:]) }
        #expect(lines.isEmpty, "nothing could be written, and no call has waited for it")
        gate.signal()
        // The lines that found room, and one that reports the others.
        while lines.all.count < 4096 + 1 { await queue.drain() }
        await queue.drain()
        #expect(lines.all.filter { $0 != "log lines were dropped" } == (0..<4096).map { "\($0)" })
        #expect(lines.all.count == 4096 + 1)
    }
}
