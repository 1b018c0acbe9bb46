import ArgumentParser
import Reprise

/// How much of a file or a stream `fetch --first` stores: seconds, such as `10s`, or bytes, such as `5MB`.
struct Beginning: ExpressibleByArgument, Sendable {
    private let text: String
    let amount: PreloadAmount

    init?(argument: String) {
        text = argument
        // `5m` are minutes, as elsewhere; megabytes have a unit of two letters.
        if let span = TimeSpan(argument: argument) {
            amount = .seconds(Double(span.duration.components.seconds))
        } else if let count = ByteCount(argument: argument) {
            amount = .bytes(count.bytes)
        } else {
            return nil
        }
    }

    var isNothing: Bool { amount == .seconds(0) || amount == .bytes(0) }

    /// Stores it, and says how much of it was fetched.
    func fetch(_ resource: MediaResource, in cache: MediaCache, name: String, meter: FetchMeter) async throws {
        let count = try await metered(resource, in: cache, name: name, meter: meter) { arrived in
            try await resource.preload(amount, arrived: arrived)
        }
        try meter.checkOutput()
        if meter.isJSON { return try Terminal.printJSON(meter.report("done")) }
        let fetched = count == 0 ? "all of it was stored" : "\(ByteCount(count)) fetched"
        try Terminal.print("\(name)  first \(text): \(fetched)")
    }

    /// Runs `store`, which calls its argument for each piece that arrives, while `meter` shows that.
    ///
    /// Returns the number of bytes that were fetched.
    func metered(
        _ resource: MediaResource, in cache: MediaCache, name: String, meter: FetchMeter,
        store: (@escaping @Sendable (Int) -> Void) async throws -> Void
    ) async throws -> Int64 {
        let before = cache.statistics.bytesFetched
        let count: @Sendable () -> Int64 = { cache.statistics.bytesFetched - before }
        do {
            try await meter.showing {
                meter.begin(total: nil, stored: 0)
                try await store { _ in meter.note(bytes: count(), fromStore: 0) }
                meter.note(bytes: count(), fromStore: 0)
            }
        } catch {
            guard error is CancellationError || Task.isCancelled else { throw Self.failure(error, of: name) }
            if meter.isJSON { try Terminal.printJSON(meter.report("interrupted")) }
            throw StopSignals.StoppedTransfer(
                key: resource.key, name: name, advice: "Run the same command again to go on.")
        }
        return count()
    }

    /// With the file's name, and as what `fetch` and `pin` of whole files fail with.
    private static func failure(_ error: any Error, of name: String) -> any Error {
        guard let error = error as? RepriseError else { return error }
        switch error.code {
        case .notStored:
            return Failure.Reason.notStored("\(name) cannot be stored: \(StorageObstacle.forbidden.advice)")
        case .storageFull:
            return Failure.Reason.notStored("The beginning of \(name) cannot be kept. \(error.explanation)")
        default: return error
        }
    }
}

extension PreloadAmount {
    /// As `--first` takes it, as far as it does.
    var text: String {
        switch self {
        case .bytes(let count): "\(ByteCount(count))"
        case .seconds(let seconds): "\(ByteCount.fixed(seconds, digits: seconds == seconds.rounded() ? 0 : 2))s"
        case .segments(let count): count == 1 ? "segment" : "\(count) segments"
        case .range(let range): "bytes \(range.lowerBound)-\(range.upperBound - 1)"
        case .all: "to last byte"
        }
    }
}
