import Primitives

/// Adds up how far the download of a stream is, while several of its files arrive at once.
///
/// Sums are reported in the order in which they come about: the last one that is reported is the last one.
final class StreamTally: Sendable {
    private let progress: Mutex<StreamProgress>
    /// Told the number of bytes that have arrived, and the sums; under the lock, so that none overtakes another.
    private let report: @Sendable (Int, StreamProgress?) -> Void

    /// Begins with `progress`, and reports it.
    init(_ progress: StreamProgress, report: @escaping @Sendable (Int, StreamProgress?) -> Void) {
        (self.progress, self.report) = (Mutex(progress), report)
        report(0, progress)
    }

    /// Counts `bytes` more on disk, or fewer if negative, `arrived` of which have just come, and `files` more wholes.
    func add(bytes: Int64, files: Int = 0, arrived: Int = 0) {
        progress.withLock { progress in
            progress.storedBytes += bytes
            progress.storedFiles += files
            report(arrived, progress)
        }
    }
}
