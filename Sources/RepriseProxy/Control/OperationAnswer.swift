import HTTPSemantics
import NIOCore
import Reprise

/// The answer to an operation: lines of JSON, of which the last one says how it ended.
///
/// An operation that fails before it has told anything is answered with a status that says so.
struct OperationAnswer<Operation: ControlOperation>: Sendable {
    let operation: Operation
    let stream: ControlStream
    /// The head of an answer with that status.
    let head: @Sendable (_ status: Int) -> ByteBuffer

    /// Progress that waits for a slow client at most; older progress is dropped.
    private static var longestQueue: Int { 16 }

    /// Carries it out in `cache`.
    func send(for cache: MediaCache) async throws {
        let (lines, continuation) = AsyncStream.makeStream(
            of: Operation.Progress.self, bufferingPolicy: .bufferingNewest(Self.longestQueue))
        async let end = Self.end(of: operation, in: cache, to: continuation)
        var hasBegun = false
        for await progress in lines {
            if !hasBegun { try await stream.begin(head(200)) }
            hasBegun = true
            try await send(.progress(progress))
        }
        let last = await end
        if !hasBegun { try await stream.begin(head(last.status)) }
        try await send(last)
        try await stream.end()
    }

    private func send(_ line: ControlLine<Operation>) async throws {
        var buffer = ByteBuffer(bytes: try JSONText.line(line))
        buffer.writeStaticString("\n")
        try await stream.send(buffer)
    }

    private static func end(
        of operation: Operation, in cache: MediaCache, to progress: AsyncStream<Operation.Progress>.Continuation
    ) async -> ControlLine<Operation> {
        defer { progress.finish() }
        do {
            if let problem = cache.storeProblem { throw problem }
            return .outcome(try await operation.run(in: cache) { progress.yield($0) })
        } catch let error as RepriseError {
            return .failure(error)
        } catch is CancellationError {
            return .canceled
        } catch {
            return .failure(RepriseError(.init("unexpected"), "The operation failed unexpectedly.", cause: error))
        }
    }
}

extension ControlLine {
    /// The status of an answer that has only this line.
    fileprivate var status: Int {
        switch self {
        case .progress, .outcome: 200
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
