/// Tells from the size of a file that a program writes whether the program is stuck.
struct GrowthWatch {
    /// How long a file may stay as large as it is.
    ///
    /// What is copied grows by megabytes a second.
    static let patience = Duration.seconds(60)

    private var size: Int64 = -1
    private var lastGrowth = Duration.zero

    /// Whether the file, of that size at that time of one monotonic clock, has not changed for too long.
    mutating func isStuck(size: Int64, at time: Duration) -> Bool {
        if size != self.size { (self.size, lastGrowth) = (size, time) }
        return time - lastGrowth >= Self.patience
    }
}
