/// How far the download of a stream is.
struct StreamProgress: Sendable, Equatable {
    /// Number of its files, playlists included.
    var files = 0
    /// Number of those that are stored as wholes.
    var storedFiles = 0
    /// Bytes of them on disk.
    var storedBytes: Int64 = 0

    /// The bytes of all files; `nil` while some are missing, whose lengths no playlist says.
    var completeLength: Int64? { storedFiles == files ? storedBytes : nil }

    /// Counts a file that is stored as a whole.
    mutating func note(_ byteCount: Int64) {
        (files, storedFiles) = (files + 1, storedFiles + 1)
        storedBytes += byteCount
    }
}
