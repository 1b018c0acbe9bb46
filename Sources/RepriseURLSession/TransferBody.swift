import Reprise

/// The consumer's end of a ``Transfer``; when it is released, the transfer ends.
final class TransferBody: OriginBody {
    private let transfer: Transfer

    init(_ transfer: Transfer) {
        self.transfer = transfer
    }

    deinit {
        transfer.cancel(byTask: false)
    }

    /// Number of bytes that have arrived and were not taken yet.
    var bufferedBytes: Int { transfer.bufferedBytes }

    func next() async throws -> (any ByteChunk)? {
        try await transfer.next().map(DataChunk.init)
    }

    func cancel() {
        transfer.cancel(byTask: false)
    }

    /// Reads and discards the body, so that its connection can be reused, if its head declares a short one.
    func discard(upTo limit: Int64) async {
        if let length = transfer.declaredLength, length <= limit {
            while (try? await transfer.next()) != nil {}
        }
        cancel()
    }
}
