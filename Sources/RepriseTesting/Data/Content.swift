extension TestOrigin {
    /// The bytes of a representation.
    public enum Content: Sendable, Hashable {
        /// These bytes.
        case bytes([UInt8])
        /// The first `length` bytes of a ``TestPattern``; generated when they are sent.
        case pattern(seed: UInt64, length: Int64)
        /// `head`, then the pattern's bytes at their own offsets, `length` bytes in all: a file with a realistic
        /// beginning.
        case headedPattern(head: [UInt8], seed: UInt64, length: Int64)
        /// The file at this path, sent by the kernel without a copy; opened again for each response.
        case file(path: String)

        /// The complete length in bytes, or `nil` for a file that cannot be opened.
        public var length: Int64? {
            switch self {
            case .bytes(let bytes): Int64(bytes.count)
            case .pattern(_, let length), .headedPattern(_, _, let length): length
            case .file(let path): (try? ContentReader(.file(path: path)))?.length
            }
        }
    }
}
