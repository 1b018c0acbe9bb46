import NIOCore
import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Error {
    /// Whether a `sendfile` failed for the file's sake, not the socket's.
    var isOfDisk: Bool { (self as? IOError).map { [EIO, ENXIO, ESTALE].contains($0.errnoCode) } ?? false }
}

/// A descriptor of NIO's own for a data file; closed when the last write that needs it is over.
final class SharedFile: Sendable {
    private let handle: NIOFileHandle
    let generation: String

    /// Duplicates the descriptor of `region`.
    init(_ region: StoredRegion, generation: String) throws(RepriseError) {
        let descriptor = fcntl(region.fileDescriptor, F_DUPFD_CLOEXEC, 0)
        guard descriptor >= 0 else {
            throw RepriseError(.storageUnavailable, "Too many files are open; raise the limit (ulimit -n).")
        }
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: descriptor)
        self.generation = generation
    }

    deinit { try? handle.close() }

    func region(_ range: Range<Int64>) -> FileRegion {
        FileRegion(fileHandle: handle, readerIndex: Int(range.lowerBound), endIndex: Int(range.upperBound))
    }
}
