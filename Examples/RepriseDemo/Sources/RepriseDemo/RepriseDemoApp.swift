#if canImport(SwiftUI)
    import RepriseAVPlayer
    import SwiftUI

    @main struct RepriseDemoApp: App {
        @State private var model: PlayerModel?

        var body: some Scene {
            WindowGroup {
                if let model {
                    PlayerView(model: model)
                } else {
                    ProgressView().task { model = PlayerModel(cache: await MediaCache.forPlayback()) }
                }
            }
        }
    }
#else
    @main enum RepriseDemoApp {
        static func main() { print("SwiftUI is needed: run this on a Mac.") }
    }
#endif
