/// The commands that wait for one download; they decide whether it is paused or released when the last one leaves.
struct DownloadFollowers: Sendable {
    private var count = 0
    private var pauses = false
    private var released: Retention?
    /// Whether the download stays when the first command fails: a later one, or the user, wants to keep it.
    private(set) var goesOn = false

    /// Another one waits; with `pausing`, the download is paused when that one is ended early.
    ///
    /// A download that was under way before the first one came goes on in any case.
    ///
    /// With `releasing`, the retention before the first one came, the download is kept as that again when the last one
    /// leaves, unless it was a download then, or a command without `releasing` waits for it, too.
    mutating func join(isUnderWay: Bool, pausing: Bool, releasing before: Retention? = nil) {
        released = count == 0 ? (before == .download ? nil : before) : (before == nil ? nil : released)
        if count > 0, !pausing, before == nil { goesOn = true }
        pauses = pausing && (count == 0 ? !isUnderWay : pauses)
        count += 1
    }

    /// The user wants to keep the title, whatever the waiting commands want.
    mutating func keep() { (released, goesOn) = (nil, true) }

    /// A command stops waiting; returns whether to pause the download, and the retention to restore.
    mutating func leave(isCanceled: Bool) -> (pauses: Bool, released: Retention?) {
        count -= 1
        return (isEmpty && isCanceled && pauses && released == nil, isEmpty ? released : nil)
    }

    /// Whether none waits any more.
    var isEmpty: Bool { count <= 0 }
}
