// A whole app that plays a film and stores it along the way.

// snippet.hide
#if canImport(AVKit) && canImport(SwiftUI)
    // snippet.show
    import AVKit
    import RepriseAVPlayer
    import SwiftUI

    @main struct FilmApp: App {
        @State private var player = AVPlayer()

        var body: some Scene {
            WindowGroup {
                VideoPlayer(player: player).task {
                    guard let url = URL(string: "https://example.com/film.mp4") else { return }
                    player.replaceCurrentItem(with: .cached(url))
                    player.play()
                }
            }
        }
    }
// snippet.hide
#else
    @main enum NoApp { static func main() {} }
#endif
