#if canImport(SwiftUI)
    import AVFoundation
    import SwiftUI

    #if canImport(AppKit)
        import AppKit
    #endif

    @main struct RepriseDemoApp: App {
        #if os(iOS)
            @UIApplicationDelegateAdaptor(AppDelegate.self) private var delegate
        #endif
        @State private var model: DemoModel?

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
                    DemoView(model: model).onDisappear {
                        self.model = nil
                        Task { await model.close() }
                    }
                } else {
                    ProgressView().task { model = await DemoModel.open() }
                }
            }
        }
    }
#else
    @main enum RepriseDemoApp {
        static func main() { print("SwiftUI is needed: run this on a Mac.") }
    }
#endif
