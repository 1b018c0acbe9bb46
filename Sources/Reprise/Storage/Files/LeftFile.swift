/// A data file that could not be removed although its record is gone.
struct LeftFile: Sendable {
    let path: String
    /// Why it could not be removed.
    let error: SystemError
    /// Bytes that it still occupies on disk; 0 if it could be emptied at least.
    let allocated: Int64

    /// The error that reports `files`; `nil` if there are none.
    static func error(_ files: [LeftFile]) -> RepriseError? {
        guard let first = files.first else { return nil }
        let allocated = files.reduce(0) { $0 + $1.allocated }
        let count = files.count == 1 ? "1 file cannot be removed:" : "\(files.count) files cannot be removed, such as"
        let state =
            allocated == 0
            ? "Their bytes are freed." : "They still occupy \(allocated) bytes, which count against the limit."
        return RepriseError(
            .storageUnavailable,
            "\(count) \(first.path). \(state) See who may write there; the cache removes them when it is opened next.",
            cause: first.error)
    }
}
