import Foundation
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

    /// Writes the whole representation to a new file at `path`; what is missing is fetched and stored on the way.
    ///
    /// The file takes its name when it is complete. Throws what ``read(_:fields:directives:demand:onInterim:)`` throws, and `storageUnavailable` when
    /// the file cannot be written.
    public func export(to path: String) async throws {
        let read = try await self.read()
        let partial = path + ".partial"
        try await withTaskExecutorPreference(DiskExecutor.shared) {
            do {
                try Data().write(to: URL(fileURLWithPath: partial))
                let handle = try FileHandle(forWritingTo: URL(fileURLWithPath: partial))
                while let bytes = try await read.nextBytes() { try handle.write(contentsOf: bytes) }
                try handle.close()
                guard rename(partial, path) == 0 else { throw SystemError(errno) }
            } catch {
                try? SystemFileSystem().remove(partial)
                if error is RepriseError || error is CancellationError { throw error }
                throw RepriseError(.storageUnavailable, "Cannot write \(path).", cause: error)
            }
        }
    }
}
