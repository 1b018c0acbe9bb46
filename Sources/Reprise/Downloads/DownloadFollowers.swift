/// The commands that wait for one download, and whether it is paused when the last of them is ended early.
struct DownloadFollowers: Sendable {
    private var count = 0
    private var pauses = false

    /// Another one waits; with `pausing`, the download is paused when that one is ended early.
    ///
    /// A download that was under way before the first one came goes on in any case.
    mutating func join(isUnderWay: Bool, pausing: Bool) {
        pauses = pausing && (count == 0 ? !isUnderWay : pauses)
        count += 1
    }

    /// One no longer waits; returns whether the download must be paused.
    mutating func leave(isCanceled: Bool) -> Bool {
        count -= 1
        return isEmpty && isCanceled && pauses
    }

    /// Whether none waits any more.
    var isEmpty: Bool { count <= 0 }
}
