#if canImport(AVFoundation)
    import Foundation
    import Observation
    import RepriseAVPlayer
    import RepriseUI

    /// The list of downloads: files and HLS streams that stay until they are removed.
    @MainActor @Observable final class DownloadsModel {
        private(set) var downloads: [Download] = []
        private(set) var message = ""
        private let cache: MediaCache
        private var watcher: Task<Void, Never>?

        init(cache: MediaCache) {
            self.cache = cache
            watcher = Task { [cache, weak self] in
                for await downloads in cache.downloads.updates() { self?.downloads = downloads }
            }
        }

        /// Stops watching; downloads go on as long as the cache is open.
        func close() { watcher?.cancel() }

        /// Adds what lies at an address.
        func add(_ text: String) async {
            let address = text.trimmingCharacters(in: .whitespacesAndNewlines)
            guard let url = URL(string: address), !address.isEmpty else {
                message = "This is no URL."
                return
            }
            await attempt { try await self.cache.downloads.add(self.cache.resource(for: url)) }
        }

        func perform(_ action: DownloadAction, on download: Download) async {
            await attempt { try await self.cache.downloads.perform(action, on: download.key) }
        }

        private func attempt(_ work: () async throws -> Void) async {
            do {
                try await work()
                message = ""
            } catch {
                message = (error as? RepriseError)?.message ?? "\(error)"
            }
        }
    }
#endif
