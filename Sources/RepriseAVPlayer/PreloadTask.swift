/// A fetch ahead of playback.
public struct PreloadTask: Sendable {
    private let task: Task<Void, any Error>

    init(_ task: Task<Void, any Error>) { self.task = task }

    /// Ends the fetch; bytes that have arrived stay stored.
    public func cancel() { task.cancel() }

    /// Returns when everything requested is stored.
    ///
    /// Throws ``RepriseError`` or `CancellationError`.
    public func finished() async throws { try await task.value }
}
