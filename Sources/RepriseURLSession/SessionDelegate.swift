import Dispatch
import Foundation
import Primitives
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Dispatches the session's events to their transfers.
///
/// The session calls it on ``queue`` and retains it until the session is invalid; it retains a transfer until its task
/// is done.
final class SessionDelegate: NSObject, Sendable {
    private struct State {
        var transfers: [Int: Transfer] = [:]
        /// Whether no more tasks may be created; on an invalid session that would crash.
        var isClosed = false
    }

    /// A serial queue; all tasks are used on it.
    let queue = DispatchQueue(label: "reprise.urlsession")
    private let state = Mutex(State())
    /// Fulfilled once the session is invalid.
    private let invalidation = Promise<Void>()

    /// Registers a transfer, under the lock so that no task is created after ``close()``.
    func register(_ make: () -> Transfer) throws(RepriseError) -> Transfer {
        let transfer = state.withLock { state -> Transfer? in
            guard !state.isClosed else { return nil }
            let transfer = make()
            state.transfers[transfer.identifier] = transfer
            return transfer
        }
        guard let transfer else { throw RepriseError(.closed, "The URL session was shut down; create a new one.") }
        return transfer
    }

    /// Closes the delegate; returns whether this was the first call.
    func close() -> Bool {
        state.withLock { state in
            defer { state.isClosed = true }
            return !state.isClosed
        }
    }

    func failAll(_ error: RepriseError) {
        for transfer in state.withLock({ Array($0.transfers.values) }) { transfer.fail(error) }
    }

    func waitForInvalidation() async {
        await invalidation.value
    }

    private func transfer(of task: URLSessionTask) -> Transfer? {
        state.withLock { $0.transfers[task.taskIdentifier] }
    }
}

extension SessionDelegate: URLSessionDataDelegate {
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        transfer(of: dataTask)?.receive(response)
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        transfer(of: dataTask)?.receive(data)
    }

    /// Never lets the system follow a redirect: `send` does that, by the rules of ``Redirect`` and with the URL as
    /// spelled.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
            // There, answering for a task that has been canceled traps. Tasks are canceled on this queue only.
            guard task.state == .running else { return }
        #endif
        completionHandler(nil)
    }

    #if canImport(FoundationNetworking)
        /// There, the challenge comes after the body of a 401, and without an answer the task would never end.
        func urlSession(
            _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
            completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
        ) {
            transfer(of: task)?.complete(nil)
            completionHandler(.cancelAuthenticationChallenge, nil)
        }
    #endif

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        let transfer = state.withLock { $0.transfers.removeValue(forKey: task.taskIdentifier) }
        transfer?.complete(error)
    }

    func urlSession(_ session: URLSession, didBecomeInvalidWithError error: (any Error)?) {
        invalidation.fulfill()
    }
}
