import AVFoundation
import SwiftUI
import Synchronization

func isCasting(_ player: AVPlayer) -> Bool {
    player.isExternalPlaybackActive  // error: visionOS
}

func drag() {
    _ = DragGesture()  // error: tvOS
}

func session() {
    _ = AVAudioSession.sharedInstance()  // error: macOS
}

// Newer than any floor.
func numbers() {
    let numbers: InlineArray<3, Int> = [1, 2, 3]  // error: everywhere
    if #available(macOS 26, iOS 26, tvOS 26, visionOS 26, *) {
        let others: InlineArray<3, Int> = [1, 2, 3]
        _ = others
    }
}

@available(macOS 26, iOS 26, tvOS 26, visionOS 26, *)
func others() -> InlineArray<3, Int> { [1, 2, 3] }

#if canImport(FoundationNetworking) || os(Linux)
    let isLinux: Never = ()
#endif
