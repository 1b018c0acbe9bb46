import HTTPSemantics

/// How much of a resource to fetch before anybody plays it.
public enum PrefetchAmount: Sendable, Hashable {
    /// The first bytes, so many of them; fewer if the file is shorter.
    case first(Int64)
    /// This range, half-open.
    case range(Range<Int64>)
    /// Everything.
    case all
}

extension MediaResource {
    /// Stores `amount`, and returns when it is on disk.
    ///
    /// Only holes are fetched, and not while a reader waits for bytes of the same origin to play them (``Demand``). A read
    /// that begins meanwhile joins the fetch. Cancelling the task ends it; what arrived stays. An amount of no bytes is
    /// stored at once, whatever else it says. Throws what ``read(_:fields:directives:demand:onInterim:)`` throws,
    /// `invalidArgument` for a negative offset among it. Where nothing can be stored it only moves bytes.
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

    /// Writes the whole representation to the file at `path`; what is missing is fetched and stored on the way.
    ///
    /// The file takes its name when it is complete, in place of one that has it already. A symbolic link stays one, and a
    /// pipe or a device is written in place. Throws what ``read(_:fields:directives:demand:onInterim:)`` throws, and
    /// `storageUnavailable` when the file cannot be written.
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
