import Foundation
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The system's background session, which transfers while the app is not running and reports to a later process.
///
/// A protocol, so that its users can be tested on systems without such a session.
protocol BackgroundSession: AnyObject, Sendable {
    /// Begins a transfer; returns its number.
    func start(_ request: URLRequest, description: String) -> Int

    /// Ends a transfer; does nothing if it has ended.
    func cancel(_ number: Int)

    /// The unfinished transfers, including those of earlier processes, with their numbers and descriptions.
    ///
    /// Usually returns after the delegate has received the ends of all other transfers.
    func transfers() async -> [(number: Int, description: String?)]
}

/// Receives the events of a ``BackgroundSession`` on its queue, in any order, including those of earlier processes.
protocol BackgroundSessionDelegate: AnyObject, Sendable {
    /// A response has arrived, with any status; `file` is deleted after this returns, unless it was moved.
    func arrived(_ description: String?, response: URLResponse?, asked: URL?, file: URL)

    /// A transfer has ended; with an error if there was no response.
    func ended(_ description: String?, asked: URL?, error: (any Error)?)

    /// All events from the time when the app was not running were delivered.
    func allWasTold()
}

/// A session of the system whose download tasks are the transfers.
///
/// The system copies each body to a file and tells its delegate, of a background session in whichever process of the
/// app runs by then. A background session follows redirects by itself, without asking.
final class SystemSession: NSObject, BackgroundSession {
    private let session: URLSession
    private let queue = OperationQueue()

    /// Creates a session that tells `delegate` what it does.
    init(_ configuration: URLSessionConfiguration, delegate: any BackgroundSessionDelegate) {
        queue.maxConcurrentOperationCount = 1
        session = URLSession(configuration: configuration, delegate: Listener(delegate), delegateQueue: queue)
    }

    func start(_ request: URLRequest, description: String) -> Int {
        let task = session.downloadTask(with: request)
        task.taskDescription = description
        task.resume()
        return task.taskIdentifier
    }

    func cancel(_ number: Int) {
        session.getAllTasks { tasks in
            for task in tasks where task.taskIdentifier == number { task.cancel() }
        }
    }

    func transfers() async -> [(number: Int, description: String?)] {
        await withCheckedContinuation { continuation in
            session.getAllTasks { [queue] tasks in
                let found = tasks.map { (number: $0.taskIdentifier, description: $0.taskDescription) }
                // The end of one that is not among them may be just being told.
                queue.addOperation { continuation.resume(returning: found) }
            }
        }
    }

    /// Ends all transfers; for a session that is not one of the background.
    func invalidate() { session.invalidateAndCancel() }

    /// Passes the session's events on.
    private final class Listener: NSObject, URLSessionDownloadDelegate {
        private let delegate: any BackgroundSessionDelegate

        init(_ delegate: any BackgroundSessionDelegate) { self.delegate = delegate }

        func urlSession(
            _ session: URLSession, downloadTask: URLSessionDownloadTask, didFinishDownloadingTo location: URL
        ) {
            delegate.arrived(
                downloadTask.taskDescription, response: downloadTask.response,
                asked: downloadTask.originalRequest?.url, file: location)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
            delegate.ended(task.taskDescription, asked: task.originalRequest?.url, error: error)
        }

        #if canImport(Darwin)
            func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession) { delegate.allWasTold() }
        #endif
    }
}

#if canImport(Darwin)
    extension URLSessionConfiguration {
        /// A background session: no cache, no cookies, no implicit credentials.
        static func makeBackground(_ identifier: String) -> URLSessionConfiguration {
            let session = URLSessionConfiguration.background(withIdentifier: identifier)
            // What a person has asked for is not put off until the device is charged.
            session.isDiscretionary = false
            session.sessionSendsLaunchEvents = true
            session.shareNothing()
            return session
        }
    }
#endif
