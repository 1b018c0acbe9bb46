// Downloads of an app, also while it does not run.

// snippet.hide
#if canImport(AVFoundation)
    import Foundation
    import RepriseAVPlayer

    @MainActor final class Library {
        struct Account { let id: String }

        private(set) var downloads: [Download] = []
        private var watcher: Task<Void, Never>?

        func keptFolder() throws -> URL {
            // snippet.show
            let support = try FileManager.default.url(
                for: .applicationSupportDirectory, in: .userDomainMask, appropriateFor: nil, create: true)
            let folder = support.appendingPathComponent("Reprise")
            // snippet.hide
            return folder
        }

        func download(_ url: URL) async throws {
            let folder = try keptFolder()
            // snippet.show
            let cache = await MediaCache.forPlayback(directory: folder)  // once, and kept
            try await cache.downloads.add(cache.resource(for: url))
            let watcher = Task {  // cancel it with the view
                for await list in cache.downloads.updates() { downloads = list }
            }
            // snippet.hide
            self.watcher = watcher
        }

        func download(_ url: URL, for account: Account, in cache: MediaCache) async throws {
            // snippet.show
            var film = try cache.resource(for: url, partition: account.id)  // or (for: ResourceURL(url), key: key)
            film.networkPolicy = .inexpensive
            try await cache.downloads.add(film, selection: StreamSelection(quality: .height(720)))
            // snippet.hide
        }
    }

    @MainActor final class Delegate {
        private(set) var cache: MediaCache?

        func openCache(in folder: URL) {
            // snippet.show
            // In the app delegate's application(_:didFinishLaunchingWithOptions:):
            let origin = URLSessionOrigin(backgroundDownloads: "com.example.app.downloads")
            Task { cache = await MediaCache.forPlayback(directory: folder, origin: origin) }
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
