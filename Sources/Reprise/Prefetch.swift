import HTTPSemantics

/// How much of a resource to fetch before it is played.
public enum PrefetchAmount: Sendable, Hashable {
    /// The first bytes, up to this many; fewer if the file is shorter.
    case first(Int64)
    /// A half-open range.
    case range(Range<Int64>)
    /// Everything.
    case all
}

extension MediaResource {
    /// Stores `amount`, and returns when it is on disk.
    ///
    /// Fetches only holes, and pauses while a reader waits for bytes from the same origin in order to play them
    /// (``Demand``). A read that begins during the fetch joins it. Canceling the task ends the fetch; bytes that have
    /// arrived stay stored. Returns immediately if `amount` is empty. Throws the errors of
    /// ``read(_:fields:directives:demand:onInterim:)``, such as `invalidArgument` for a negative offset. If nothing can
    /// be stored, it only transfers bytes.
    public func prefetch(_ amount: PrefetchAmount) async throws {
        let read: MediaRead
        switch amount {
        case .first(let count) where count <= 0: return
        case .range(let range) where range.isEmpty: return
        case .first(let count): read = try await self.read(.bounded(0..<count), demand: .preload)
        case .range(let range): read = try await self.read(.bounded(range), demand: .preload)
        case .all: read = try await self.read(demand: .preload)
        }
        while try await read.next() != nil {}
    }

    /// Writes the whole representation to the file at `path`; missing bytes are fetched and stored along the way.
    ///
    /// The file appears under its name when it is complete, and replaces an existing one. A symbolic link is preserved,
    /// and a pipe or device is written in place. Throws the errors of ``read(_:fields:directives:demand:onInterim:)``,
    /// and `storageUnavailable` when the file cannot be written.
    public func export(to path: String) async throws {
        let read = try await self.read()
        try await withTaskExecutorPreference(DiskExecutor.shared) {
            do {
                let file = try OutputFile(path: path, existing: .replaced)
                while let bytes = try await read.nextBytes() { try file.write(bytes) }
                try file.finish()
            } catch let failure as OutputFile.Failure {
                throw RepriseError(.storageUnavailable, failure.message)
            }
        }
    }
}
