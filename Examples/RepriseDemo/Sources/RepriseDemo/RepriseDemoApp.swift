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
                // A program started by `swift run` has no bundle; without this its window stays in the background and
                // gets no key events.
                NSApplication.shared.setActivationPolicy(.regular)
                NSApplication.shared.activate()
            #else
                // With this and the background mode `audio` in Info.plist, audio continues behind the lock screen.
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
