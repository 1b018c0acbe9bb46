import ArgumentParser
import Primitives
import Reprise

/// How much of a file or a stream `fetch --first` stores: seconds, such as `10s`, or bytes, such as `5MB`.
struct Beginning: Measure, Sendable {
    static let rule = "takes seconds such as 10s, or bytes with their unit such as 5MB."

    /// As it is written.
    let text: String
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

    /// Runs `store`, which stores it of `resource` and calls its argument for each piece that arrives, and tells that.
    ///
    /// Returns the number of bytes that were fetched.
    func metered(
        of resource: MediaResource, telling teller: TransferTeller,
        store: (@escaping @Sendable (Int) -> Void) async throws -> Void
    ) async throws -> Int64 {
        let count = Mutex<Int64>(0)
        teller.begin(total: nil, stored: 0)
        do {
            try await store { piece in
                let bytes = count.withLock { count in
                    count += Int64(piece)
                    return count
                }
                teller.note(bytes: bytes, fromStore: 0)
            }
        } catch {
            if error is CancellationError { throw error }
            throw await Self.failure(error, of: resource)
        }
        let bytes = count.withLock { $0 }
        teller.note(bytes: bytes, fromStore: 0)
        return bytes
    }

    /// With the file's name, and as what `fetch` and `pin` of whole files fail with.
    private static func failure(_ error: any Error, of resource: MediaResource) async -> any Error {
        guard let error = error as? RepriseError else { return error }
        let name = URLText.name(of: resource.url.description)
        switch error.code {
        case .notStored:
            guard let obstacle = error.obstacle else { return error }
            return Failure.Reason.notStored("\(name) cannot be stored: \(obstacle.advice)")
        case .storageFull:
            var obstacle = error.obstacle
            if obstacle == nil { obstacle = await resource.obstacleToMore() }
            let advice = await (obstacle ?? .store(reason: error.explanation)).advice(for: resource)
            return Failure.Reason.notStored("The beginning of \(name) cannot be kept: \(advice)")
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
