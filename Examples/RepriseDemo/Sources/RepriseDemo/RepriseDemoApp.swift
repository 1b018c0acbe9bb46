#if canImport(SwiftUI)
    import AVFoundation
    import RepriseAVPlayer
    import SwiftUI

    #if canImport(AppKit)
        import AppKit
    #endif

    @main struct RepriseDemoApp: App {
        @State private var model: PlayerModel?

        init() {
            #if os(macOS)
                // A program that `swift run` starts has no bundle: without this its window stays behind and gets no keys.
                NSApplication.shared.setActivationPolicy(.regular)
                NSApplication.shared.activate()
            #else
                // Sound goes on behind the lock screen with this and the background mode `audio` in Info.plist.
                try? AVAudioSession.sharedInstance().setCategory(.playback)
            #endif
        }

        var body: some Scene {
            WindowGroup {
                if let model {
                    PlayerView(model: model).onDisappear {
                        model.close()
                        self.model = nil
                    }
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
