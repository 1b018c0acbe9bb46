#if canImport(SwiftUI)
    import AVKit
    import SwiftUI

    /// Clips below each other, one on the screen at a time.
    struct FeedView: View {
        let model: FeedModel
        @State private var position: Int?

        var body: some View {
            ScrollView {
                LazyVStack(spacing: 0) {
                    ForEach(model.clips.indices, id: \.self) { index in
                        clip(index).containerRelativeFrame([.horizontal, .vertical])
                    }
                }
                .scrollTargetLayout()
            }
            .scrollTargetBehavior(.paging)
            .scrollPosition(id: $position)
            .onAppear { model.show(position ?? 0) }
            .onChange(of: position) { model.show(position ?? 0) }
            .onDisappear { model.leave() }
        }

        private func clip(_ index: Int) -> some View {
            ZStack(alignment: .bottomLeading) {
                if index == model.visible {
                    // Its controls would take the gestures of the feed.
                    VideoPlayer(player: model.player).allowsHitTesting(false)
                } else {
                    Color.black
                }
                Text(verbatim: "\(index + 1)  \(model.clips[index].lastPathComponent)")
                    .font(.footnote).foregroundStyle(.white).padding()
            }
            #if os(tvOS)
                .focusable()
            #endif
        }
    }
#endif
