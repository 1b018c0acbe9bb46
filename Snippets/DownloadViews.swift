// The stored parts of what plays, and a list of downloads, in SwiftUI.

// snippet.hide
#if canImport(SwiftUI) && canImport(AVFoundation)
    import AVFoundation
    import Reprise
    import SwiftUI
    // snippet.show
    import RepriseUI
    // snippet.hide

    struct Bar: View {
        let progress: StoredProgress
        let player: AVPlayer
        let seconds: Double
        let length: Double

        var body: some View {
            // snippet.show
            BufferBar(BufferedTimeline(progress, position: seconds, duration: length)) { time in
                player.seek(to: CMTime(seconds: time, preferredTimescale: 600))
            }
            // snippet.hide
        }
    }

    struct DownloadList: View {
        let cache: MediaCache
        let downloads: [Download]

        var body: some View {
            // snippet.show
            List(downloads) { download in
                DownloadRow(download) { action in
                    Task { try await cache.downloads.perform(action, on: download.key) }
                }
            }
            // snippet.hide
        }
    }
#endif
