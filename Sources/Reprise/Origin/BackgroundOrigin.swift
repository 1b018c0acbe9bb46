/// A client whose transfers for downloads may go on while the program does not run.
///
/// It answers a request with an ``OriginRequest/errand`` when the transfer has ended, which may take hours; a request
/// of the next process for the same bytes gets the same transfer. What has come belongs to the client until
/// ``OriginResponse/onStored`` is called. The engine judges these responses as it judges all others.
package protocol BackgroundOrigin: Origin {
    /// Whether it does transfer in the background.
    var isInBackground: Bool { get }

    /// What has come for an entry and is not stored yet, which occupies the disk.
    func arrivedBytes(of entry: String) -> ArrivedBytes

    /// A download of a title runs from now on: the system is not told that all is dealt with before its requests wait
    /// for transfers.
    func expectTransfers(of title: String)

    /// A download of a title does not run at present, such as without a network; its transfers go on.
    func restTransfers(of title: String)

    /// Ends those transfers for a title that may use other networks than those of a policy; what has come is kept.
    func endTransfers(of title: String, notWithin policy: NetworkPolicy)

    /// Ends the transfers for a title that is paused, or waits for room or for its hours; what has come is kept.
    func pauseTransfers(of title: String)

    /// Ends the transfers for a title that has failed, and drops what has come but for parts of files: a whole answer
    /// may be what it has failed for.
    func endTransfers(of title: String)

    /// Ends the transfers for a title, and drops what has come: it is removed, or complete.
    func forgetTransfers(of title: String)

    /// Ends the transfers for all other titles than `running`, and drops what has come for all others than `titles`.
    func keepTransfers(running: Set<String>, titles: Set<String>)
}

/// Bytes that have come in the background and are not stored yet.
package struct ArrivedBytes: Sendable, Equatable {
    package let sum: Int64
    /// Most bytes of one response, also of those that will come: so many are on disk twice while it is stored.
    package let largest: Int64

    /// Creates a number of bytes.
    package init(sum: Int64 = 0, largest: Int64 = 0) { (self.sum, self.largest) = (sum, largest) }
}

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
