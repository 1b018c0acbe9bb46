// Downloads that go on while the app does not run.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Delegate {
        func open(in folder: URL) async -> MediaCache {
            // snippet.show
            let origin = URLSessionOrigin(backgroundDownloads: "com.example.app.downloads")
            let cache = await MediaCache.forPlayback(directory: folder, origin: origin)
            // snippet.hide
            return cache
        }

        func handleEvents(of identifier: String, completionHandler: @escaping () -> Void) {
            // snippet.show
            // In the app delegate's application(_:handleEventsForBackgroundURLSession:completionHandler:):
            URLSessionOrigin.handleEvents(ofBackgroundSession: identifier, completion: completionHandler)
            // snippet.hide
        }
    }
#endif
