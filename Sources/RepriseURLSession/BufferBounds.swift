/// The amounts of buffered bytes at which a task is suspended and resumed, and when a suspended one is cut off.
struct BufferBounds: Sendable {
    let suspendsAbove: Int
    let resumesBelow: Int
    /// Maximum number of bytes that may arrive after a suspension, 8 MiB: URLSession guarantees no bound, and has been
    /// seen to deliver 900 MB over HTTPS.
    var mostAfterSuspension = 8 << 20
    /// Longest suspension of a body that can be resumed with a range, 10 s: tasks that stay suspended keep other
    /// requests of the process waiting.
    var longestSuspension = Duration.seconds(10)

    #if canImport(FoundationNetworking)
        /// Never suspends: on Linux a suspended task would ask again from byte 0.
        static let platform = BufferBounds(suspendsAbove: .max, resumesBelow: 0)
    #else
        /// 1 MiB and 256 KiB: far apart, because each change costs a hop to the session's queue and to its connection.
        static let platform = BufferBounds(suspendsAbove: 1 << 20, resumesBelow: 1 << 18)
    #endif
}
