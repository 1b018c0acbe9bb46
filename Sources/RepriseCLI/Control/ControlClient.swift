import ArgumentParser
import Foundation
import Primitives
import Reprise
import RepriseProxy

/// A client of the control socket of a running server.
struct ControlClient: Sendable {
    private let path: String
    private let clock: CacheClock
    /// What the server says of itself; `nil` if it was not asked.
    let report: ServerReport?

    /// A client of the socket at `path`.
    init(path: String, clock: CacheClock = .system, report: ServerReport? = nil) {
        (self.path, self.clock, self.report) = (path, clock, report)
    }

    /// How long a server may take to say who it is.
    static let patience = Duration.seconds(5)

    /// The server that uses the cache in `options`; `nil` if what uses it has no control socket.
    ///
    /// Throws a reason with code 75 for a server that does not answer.
    static func find(_ options: CacheOptions) async throws -> ControlClient? {
        let directory = try options.directory
        for place in ControlPlace.searched(for: directory, environment: CacheOptions.environment) {
            guard let exchange = SocketExchange(to: place.path) else { continue }
            let answer = await exchange.run("GET", "/-/server.json", patience: patience, line: { _ in })
            guard let answer, answer.status == 200,
                let server = try? JSONDecoder().decode(ServerReport.self, from: answer.last)
            else { throw unavailable("The server on \(place.path) does not answer.") }
            guard server.directory.map(ControlPlace.realPath) == ControlPlace.realPath(directory) else {
                continue
            }
            return ControlClient(path: place.path, report: server)
        }
        return nil
    }

    /// Has the server do `operation`; a task that is canceled has the server end it early, and throws
    /// ``StopSignals/Interruption`` if that does not answer then.
    ///
    /// `body` takes the bytes that the operation is about, piece by piece; what it throws ends the operation. With
    /// `patience`, a server that says nothing for so long counts as one that has ended.
    func perform<Operation: ControlCommand>(
        _ operation: Operation, patience: Duration? = nil,
        progress: @escaping @Sendable (Operation.Progress) -> Void = { _ in },
        body: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> Operation.Outcome {
        guard let exchange = SocketExchange(to: path, clock: clock) else { throw Self.ended }
        let request = try JSONEncoder().encode(operation)
        let pieces = PieceWriter(body) { exchange.finishSending() }
        let answer = await withTaskCancellationHandler {
            await exchange.run("POST", "/-/api/\(Operation.name)", body: request, patience: patience) { line in
                switch try? JSONDecoder().decode(ControlLine<Operation>.self, from: line) {
                case .progress(let step): progress(step)
                case .body(let bytes): pieces.write([UInt8](bytes))
                case .outcome, .failure, .canceled, nil: break
                }
            }
        } onCancel: {
            pieces.cancel()
        }
        if let error = pieces.error { throw error }
        guard let answer, let last = try? JSONDecoder().decode(ControlLine<Operation>.self, from: answer.last) else {
            if exchange.wasAbandoned { throw Self.unanswered }
            // Stopped before the request was sent: the server has nothing to say.
            try Task.checkCancellation()
            throw Self.ended
        }
        switch last {
        case .outcome(let outcome): return outcome
        case .canceled: throw CancellationError()
        case .failure(let error):
            guard error.code.description != ControlFailure.unknownPath else {
                throw Self.unavailable("The server that uses the cache is of another version, which cannot do this.")
            }
            throw error
        case .progress, .body:
            if exchange.wasAbandoned { throw Self.unanswered }
            throw Self.ended
        }
    }

    private static var unanswered: StopSignals.Interruption {
        StopSignals.Interruption(
            message: "Stopped, but the server that uses the cache has not answered for "
                + "\(SocketExchange.grace.components.seconds) seconds: what it does for this command may go on.")
    }

    private static var ended: Failure.Reason { unavailable("The server that uses the cache ended in the middle.") }

    private static func unavailable(_ message: String) -> Failure.Reason {
        Failure.Reason(
            code: ExitCode(75), name: "\(RepriseError.Code.storageLocked)",
            message: "\(message) Run the same command again, or restart the server.")
    }
}
