import Foundation
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The system's session: it transfers while the program does not run, and tells a later process what has come.
///
/// Everything else is behind it, so that it can be tested where there is no such session.
protocol BackgroundSession: AnyObject, Sendable {
    /// Begins a transfer; returns its number.
    func start(_ request: URLRequest, description: String) -> Int

    /// Ends a transfer; does nothing if it has ended.
    func cancel(_ number: Int)

    /// The transfers that have not ended, those of earlier processes too, with their numbers and descriptions.
    ///
    /// As a rule it returns when the delegate has been told of all others that they have ended.
    func transfers() async -> [(number: Int, description: String?)]
}

/// Is told what a ``BackgroundSession`` does: from its own queue, in any order, for transfers of earlier processes too.
protocol BackgroundSessionDelegate: AnyObject, Sendable {
    /// A response has come, whatever its status; `file` is gone when this returns, unless it was moved.
    func arrived(_ description: String?, response: URLResponse?, asked: URL?, file: URL)

    /// A transfer has ended; with an error if no response has come.
    func ended(_ description: String?, asked: URL?, error: (any Error)?)

    /// All is told that happened while the program did not run.
    func allWasTold()
}
