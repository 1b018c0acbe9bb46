/// Sizes of a file.
package struct FileStatus: Sendable, Equatable {
    /// Length in bytes.
    package var size: Int64
    /// Bytes that it occupies on disk; less than its length if it has holes.
    package var allocated: Int64
    /// Whether it is a file on a disk: no directory, pipe, socket or device.
    package var isRegular: Bool

    package init(size: Int64, allocated: Int64, isRegular: Bool = true) {
        self.size = size
        self.allocated = allocated
        self.isRegular = isRegular
    }
}
