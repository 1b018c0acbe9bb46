import Reprise
import RepriseProxy

/// What a subcommand does its work with: the cache that it has opened, or the server that has it open.
enum CacheAccess: Sendable {
    /// The cache, open in this process.
    case opened(MediaCache)
    /// The server that uses it.
    case server(ControlClient)

    var isServer: Bool { if case .server = self { true } else { false } }

    /// Why nothing can be stored; `nil` for a server, which says so itself.
    var storeProblem: RepriseError? {
        if case .opened(let cache) = self { cache.storeProblem } else { nil }
    }

    /// Has `operation` done; ends early when the task is canceled, as the operation says.
    func perform<Operation: ControlOperation>(
        _ operation: Operation, progress: @escaping @Sendable (Operation.Progress) -> Void = { _ in }
    ) async throws -> Operation.Outcome {
        switch self {
        case .opened(let cache): try await operation.run(in: cache, progress: progress)
        case .server(let server): try await server.perform(operation, progress: progress)
        }
    }
}

extension CacheAccess {
    /// Has a transfer done, whose progress `meter` shows; ends early when that cannot be written.
    ///
    /// `body` takes the bytes that it is about.
    func perform<Operation: ControlOperation>(
        _ operation: Operation, shownBy meter: FetchMeter,
        body: @escaping @Sendable ([UInt8]) async throws -> Void = { _ in }
    ) async throws -> Operation.Outcome where Operation.Progress == TransferReport {
        let result = await meter.showing {
            let work = Task {
                switch self {
                case .opened(let cache):
                    try await operation.run(in: cache, progress: { meter.take($0) }, body: body)
                case .server(let server):
                    try await server.perform(operation, progress: { meter.take($0) }, body: body)
                }
            }
            meter.onFailure { work.cancel() }
            return await withTaskCancellationHandler {
                await work.result
            } onCancel: {
                work.cancel()
            }
        }
        try meter.checkOutput()
        return try result.get()
    }
}

extension CacheOptions {
    /// Runs `body` with the cache, or with the server that has it open; it fetches nothing.
    ///
    /// Waits for another command that has it open, if `isPatient`.
    func withAccess<T>(
        isPatient: Bool = true, signals: StopSignals? = nil, _ body: (CacheAccess) async throws -> T
    ) async throws -> T {
        do {
            return try await withCache(isPatient: isPatient, signals: signals) { try await body(.opened($0)) }
        } catch let error as RepriseError {
            guard error.code == .storageLocked, let server = try await server() else { throw error }
            return try await body(.server(server))
        }
    }

    /// The server that has the cache open.
    ///
    /// A key that is given must be that of the cache, as without a server; without one the server's holds.
    func server() async throws -> ControlClient? {
        guard let server = try await ControlClient.find(self) else { return nil }
        if try encryption() != nil { _ = try recordedInspector() }
        return server
    }

    /// The server that has the cache open, if that is why it could not be opened; with `isReset` none will do.
    ///
    /// Throws a reason with code 64 if an option is `given` that is a setting of an open cache.
    func server(insteadOf error: any Error, given option: String?, isReset: Bool) async throws -> ControlClient? {
        guard let error = error as? RepriseError, error.code == .storageLocked, !isReset,
            let server = try await server()
        else { return nil }
        if let option { throw Self.setByServer(option) }
        return server
    }

    /// What is said of an `option` that is a setting of the server that uses the cache.
    static func setByServer(_ option: String) -> RepriseError {
        RepriseError(.invalidArgument, "A server uses the cache, and its own settings hold: leave \(option) out.")
    }

    /// Has one operation done that fetches nothing.
    func perform<Operation: ControlOperation>(
        _ operation: Operation, isPatient: Bool = true
    ) async throws -> Operation.Outcome {
        try await withAccess(isPatient: isPatient) { try await $0.perform(operation) }
    }
}
