#if os(iOS)
    import RepriseAVPlayer
    import UIKit

    /// Opens the cache on every launch: the system also launches the app in the background, where it has no view, when
    /// downloads have come.
    final class AppDelegate: NSObject, UIApplicationDelegate {
        private var cache: MediaCache?

        func application(
            _ application: UIApplication,
            didFinishLaunchingWithOptions launchOptions: [UIApplication.LaunchOptionsKey: Any]? = nil
        ) -> Bool {
            openCache()
            return true
        }

        func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            URLSessionOrigin.handleEvents(ofBackgroundSession: identifier, completion: completionHandler)
        }

        func applicationProtectedDataDidBecomeAvailable(_ application: UIApplication) {
            // A launch before the device was unlocked for the first time has found the files locked.
            if cache?.isStoring == false { openCache() }
        }

        private func openCache() { Task { cache = await DemoModel.openCache() } }
    }
#endif
