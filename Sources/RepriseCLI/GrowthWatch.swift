/// Tells from the size of a file that a program writes whether the program is stuck.
struct GrowthWatch {
    /// The time between two looks.
    static let interval = Duration.seconds(1)
    /// How often in a row a file may be found as large as it was.
    ///
    /// What is copied grows by megabytes a second. Looks are counted, because time also passes while the program is
    /// stopped, as by Ctrl-Z, or the machine sleeps.
    static let patience = 60

    private var size: Int64?
    private var looks = 0

    /// Whether the file, of that size at this look, has not changed for too long.
    mutating func isStuck(size: Int64) -> Bool {
        looks = size == self.size ? looks + 1 : 0
        self.size = size
        return looks >= Self.patience
    }
}
