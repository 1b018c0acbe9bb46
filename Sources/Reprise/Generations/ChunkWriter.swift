/// Writes one fetch's bytes to the data file, with what verifies them: checksums or seals.
struct ChunkWriter: Sendable {
    private let bytes: StoredBytes
    private let fetch: FetchSchedule.FetchID
    /// Body bytes received, wanted or not.
    var received: Int64 = 0
    /// The rest of the body is a reader's.
    var isHandedOver = false
    private var cutter = ChunkCutter()
    /// Bytes of complete chunks since the last ``takeCompleted()``.
    private var completed: Int64 = 0

    init(into bytes: StoredBytes, for fetch: FetchSchedule.FetchID) {
        self.bytes = bytes
        self.fetch = fetch
    }

    /// Writes `part` of `chunk`, whose first byte lies at `start` in the representation.
    ///
    /// After an error the same call may be repeated.
    mutating func write(_ chunk: any ByteChunk, at start: Int64, part: Range<Int64>) throws(RepriseError) {
        let result: Result<Void, RepriseError> = chunk.withUnsafeBytes { buffer in
            let lower = Int(part.lowerBound - start)
            let slice = UnsafeRawBufferPointer(rebasing: buffer[lower..<lower + Int(part.upperBound - part.lowerBound)])
            do throws(RepriseError) {
                if bytes.isSealed {
                    try bytes.append(slice, part: part, to: fetch, sealed: &completed)
                } else {
                    try bytes.write(slice, at: part.lowerBound)
                    completed += bytes.add(cutter.append(slice, at: part.lowerBound))
                }
            } catch {
                return .failure(error)
            }
            return .success(())
        }
        try result.get()
    }

    /// Ends the open chunk because the download stopped.
    mutating func finish() throws(RepriseError) {
        if bytes.isSealed {
            completed += try bytes.sealTail(of: fetch)
        } else if let chunk = cutter.finish() {
            completed += bytes.add([chunk])
        }
    }

    /// How many bytes of chunks were completed since the last call; the index lacks them.
    mutating func takeCompleted() -> Int64 {
        defer { completed = 0 }
        return completed
    }

    /// The bytes that readers see although they are not written yet.
    var unwritten: Range<Int64>? { bytes.tail(of: fetch).map { $0.start..<$0.end } }

    /// Drops bytes that are not written yet, after readers can no longer expect them.
    func abandon() { bytes.dropTail(of: fetch) }
}
