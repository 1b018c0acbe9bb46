import Foundation
package import Reprise

extension URLSessionOrigin {
    /// Passes on what the system tells an app that it has launched, or woken, because background downloads have come.
    ///
    /// Call it in the app delegate's `application(_:handleEventsForBackgroundURLSession:completionHandler:)`:
    ///
    /// ```swift
    /// URLSessionOrigin.handleEvents(ofBackgroundSession: identifier, completion: completionHandler)
    /// ```
    /// Calls `completion` once, on the main actor, when all that has come is in the cache and the transfers that follow
    /// have begun, at the latest 25 s after this call: what is not in the cache by then waits for it. The app opens its
    /// cache as on every launch.
    /// Only for the identifier of a client of this kind: leave other sessions to the code that made them. On other
    /// systems than Apple's `completion` is called at once.
    @MainActor public static func handleEvents(
        ofBackgroundSession identifier: String, completion: @escaping () -> Void
    ) {
        guard let desks = BackgroundDesks.shared else { return completion() }
        desks.handleEvents(of: identifier, completion: completion)
    }
}

extension URLSessionOrigin: BackgroundOrigin {
    package var isInBackground: Bool { desk?.isInBackground ?? false }

    package func arrivedBytes(of entry: String) -> ArrivedBytes { desk?.arrivedBytes(of: entry) ?? ArrivedBytes() }

    package func expectTransfers(of title: String) { desk?.expectTransfers(of: title) }

    package func restTransfers(of title: String) { desk?.restTransfers(of: title) }

    package func pauseTransfers(of title: String) { desk?.pauseTransfers(of: title) }

    package func endTransfers(of title: String, notWithin policy: NetworkPolicy) {
        desk?.endTransfers(of: title, notOver: configuration.networks(of: policy))
    }

    package func endTransfers(of title: String) { desk?.endTransfers(of: title) }

    package func forgetTransfers(of title: String) { desk?.forgetTransfers(of: title) }

    package func keepTransfers(running: Set<String>, titles: Set<String>) {
        desk?.keepTransfers(running: running, titles: titles)
    }
}
