import Foundation
import Primitives
import Reprise

/// The body of an error.
final class ErrorPage: OriginBody {
    private let rest: Mutex<Data>

    init(_ data: Data) { rest = Mutex(data) }

    func next() async throws -> (any ByteChunk)? {
        let data = rest.withLock { rest in
            defer { rest = Data() }
            return rest
        }
        return data.isEmpty ? nil : DataChunk(data)
    }

    func cancel() { rest.withLock { $0 = Data() } }
}
