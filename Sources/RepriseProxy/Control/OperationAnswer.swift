import Foundation
import HTTPSemantics
import NIOCore
import Primitives
import Reprise

/// The answer to an operation: lines of JSON, of which the last one says how it ended.
///
/// An operation that fails before it has told anything is answered with a status that says so.
struct OperationAnswer<Operation: ControlOperation>: Sendable {
    let operation: Operation
    let stream: ControlStream
    /// The head of an answer with that status.
    let head: @Sendable (_ status: Int) -> ByteBuffer
    private let beginning = AnswerHead()

    init(operation: Operation, stream: ControlStream, head: @escaping @Sendable (_ status: Int) -> ByteBuffer) {
        (self.operation, self.stream, self.head) = (operation, stream, head)
    }

    /// Progress that waits for a slow client at most; older progress is dropped.
    private static var longestQueue: Int { 16 }

    /// Carries it out in the cache of `service`.
    func send(for service: ProxyService) async throws {
        let (lines, continuation) = AsyncStream.makeStream(
            of: Operation.Progress.self, bufferingPolicy: .bufferingNewest(Self.longestQueue))
        async let end = end(in: service.cache, to: continuation)
        for await progress in lines { try await send(.progress(progress)) }
        let last = await end
        // The client asks for the list when it knows of its change.
        if Operation.editsTitles { await service.catalog.noteChange() }
        try await send(last)
        try await stream.end()
    }

    /// Sends a line, after the head if it is the first.
    private func send(_ line: ControlLine<Operation>) async throws {
        try await beginning.send { [stream, head] in try await stream.begin(head(line.status)) }
        var buffer = ByteBuffer(bytes: try JSONText.line(line))
        buffer.writeStaticString("\n")
        try await stream.send(buffer)
    }

    /// Carries it out; returns the last line.
    private func end(
        in cache: MediaCache, to progress: AsyncStream<Operation.Progress>.Continuation
    ) async -> ControlLine<Operation> {
        defer { progress.finish() }
        do {
            if let problem = cache.storeProblem { throw problem }
            let outcome = try await operation.run(in: cache) {
                progress.yield($0)
            } body: { bytes in
                try await send(.body(Data(bytes)))
            }
            return .outcome(outcome)
        } catch let error as RepriseError {
            return .failure(error)
        } catch is CancellationError {
            return .canceled
        } catch {
            return .failure(RepriseError(.init("unexpected"), "The operation failed unexpectedly.", cause: error))
        }
    }
}

/// The head of an answer, which is sent once, before all lines.
private final class AnswerHead: Sendable {
    private let sending = Mutex<Task<Void, any Error>?>(nil)

    func send(_ write: @escaping @Sendable () async throws -> Void) async throws {
        let task = sending.withLock { task in
            let begun = task ?? Task { try await write() }
            task = begun
            return begun
        }
        try await task.value
    }
}

extension ControlLine {
    /// The status of an answer that has only this line.
    fileprivate var status: Int {
        switch self {
        case .progress, .body, .outcome: 200
        case .canceled: 503
        case .failure(let error):
            switch error.code {
            case .invalidURL, .invalidArgument: 400
            case .notStored: 404
            case .storageFull: 507
            case .storageUnavailable, .storageLocked, .closed: 503
            case let code where code.description.hasPrefix("origin"): 502
            default: 500
            }
        }
    }
}
