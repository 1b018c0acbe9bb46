// Downloads of an app, also while it does not run.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Library {
        struct Account { let id: String }

        private(set) var downloads: [Download] = []
        private var watcher: Task<Void, Never>?

        func download(_ url: URL) async throws {
            // snippet.show
            let cache = await MediaCache.shared
            try await cache.downloads.add(url, name: "Nosferatu")
            let watcher = Task {  // cancel it with the view
                for await list in cache.downloads.updates() { downloads = list }
            }
            // snippet.hide
            self.watcher = watcher
        }

        func download(_ url: URL, for account: Account, in cache: MediaCache) async throws {
            // snippet.show
            let film = StreamSelection(quality: .height(720), audio: .only(["de"]))
            try await cache.downloads.add(url, selection: film, partition: account.id, networkPolicy: .inexpensive)
            try await cache.downloads.add(url, partition: account.id, networkPolicy: .any)  // now on any network
            // snippet.hide
        }
    }

    @MainActor final class Delegate {
        func openCache(in folder: URL, with configuration: MediaCache.Configuration) throws {
            // snippet.show
            // In the app delegate's application(_:didFinishLaunchingWithOptions:):
            let origin = URLSessionOrigin(backgroundDownloads: "com.example.app.downloads")
            try MediaCache.configureShared(directory: folder, origin: origin, configuration: configuration)
            Task { _ = await MediaCache.shared }  // so that transfers that have ended are stored
            // snippet.hide
        }

        func handleEvents(of identifier: String, completionHandler: @escaping () -> Void) {
            // snippet.show
            // In its application(_:handleEventsForBackgroundURLSession:completionHandler:):
            URLSessionOrigin.handleEvents(ofBackgroundSession: identifier, completion: completionHandler)
            // snippet.hide
        }
    }
#endif
