/// What a client that transfers in the background has to know of a request besides its fields.
package struct BackgroundErrand: Sendable {
    /// Stands for the title of the download, in later processes too; tells nothing of its URL.
    package let title: String
    /// Stands for the entry in the same way.
    package let entry: String
    /// The bytes that are missing, all of which will be asked for; `nil` where nothing is known of the representation,
    /// or the whole is asked for.
    package var hole: Range<Int64>?
    /// How much the run of a download to which the request belongs is wanted, the same in all copies.
    private let run = RequestInterest(.download)

    /// Creates an errand.
    package init(title: String, entry: String, hole: Range<Int64>? = nil) {
        (self.title, self.entry, self.hole) = (title, entry, hole)
    }

    /// Whether the run has ended or was canceled: a request that still lingers begins no transfer for it any more.
    package var isOver: Bool { run.demand == nil }

    /// The run has ended, or was canceled.
    package func end() { run.change(to: nil) }

    /// Calls `observer` when the run ends, from any thread, until ``forget(_:)`` is called with the returned number.
    package func observe(_ observer: @escaping @Sendable () -> Void) -> Int { run.observe(observer) }

    /// Ends an observation; a call of the observer may still be under way.
    package func forget(_ number: Int) { run.forget(number) }
}
