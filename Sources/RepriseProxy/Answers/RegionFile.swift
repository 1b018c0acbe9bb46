import NIOCore
import Reprise

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

extension Error {
    /// Whether a `sendfile` failed because of the file, not the socket.
    var isOfDisk: Bool { (self as? IOError).map { [EIO, ENXIO, ESTALE].contains($0.errnoCode) } ?? false }
}

/// A stored region in NIO's form: a handle that borrows the data file's descriptor.
///
/// Must live until its write is over. It keeps the data file open and protects the bytes from eviction.
final class RegionFile: Sendable {
    let stored: StoredRegion
    private let handle: NIOFileHandle

    init(_ stored: StoredRegion) {
        self.stored = stored
        handle = NIOFileHandle(_deprecatedTakingOwnershipOfDescriptor: stored.fileDescriptor)
    }

    deinit {
        // Fails only during a write, which this object outlives.
        _ = try? handle.takeDescriptorOwnership()
    }

    var region: FileRegion {
        FileRegion(
            fileHandle: handle, readerIndex: Int(stored.range.lowerBound), endIndex: Int(stored.range.upperBound))
    }
}
