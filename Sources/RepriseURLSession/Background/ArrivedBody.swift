import Foundation
import Primitives
import Reprise

/// A part of a file as the body of a response.
final class ArrivedBody: OriginBody {
    /// Bytes per piece: few calls, and little memory.
    private static let pieceLength: Int64 = 256 << 10

    private struct State {
        var file: FileHandle?
        var rest: Range<Int64>
    }

    private let state: Mutex<State>
    private let authority: String
    /// Called when the file cannot be read.
    private let onFailure: @Sendable () -> Void

    init(
        _ file: URL, part: Range<Int64>, from authority: String, onFailure: @escaping @Sendable () -> Void
    ) {
        let handle = try? FileHandle(forReadingFrom: file)
        try? handle?.seek(toOffset: UInt64(part.lowerBound))
        state = Mutex(State(file: handle, rest: part))
        (self.authority, self.onFailure) = (authority, onFailure)
    }

    func next() async throws -> (any ByteChunk)? {
        try Task.checkCancellation()
        let data: Data? = state.withLock { state in
            let count = min(state.rest.upperBound - state.rest.lowerBound, Self.pieceLength)
            guard count > 0 else { return Data() }
            guard let data = try? state.file?.read(upToCount: Int(count)), !data.isEmpty else { return nil }
            state.rest = state.rest.lowerBound + Int64(data.count)..<state.rest.upperBound
            return data
        }
        guard let data else {
            onFailure()
            throw RepriseError.originBodyTruncated(authority, cause: nil)
        }
        return data.isEmpty ? nil : DataChunk(data)
    }

    func cancel() {
        state.withLock { state in
            state.rest = state.rest.upperBound..<state.rest.upperBound
            state.file = nil
        }
    }
}

/// The body of an error response.
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
