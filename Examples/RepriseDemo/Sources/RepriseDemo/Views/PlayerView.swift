#if canImport(SwiftUI)
    import AVKit
    import RepriseAVPlayer
    import RepriseUI
    import SwiftUI

    /// A player, a bar with the stored parts, and some buttons.
    struct PlayerView: View {
        let model: PlayerModel
        @State private var lines = Samples.lines

        var body: some View {
            VStack(spacing: 16) {
                VideoPlayer(player: model.player).frame(minHeight: 200)
                BufferBar(timeline) { model.seek(to: $0) }
                Text(stored).font(.footnote)
                TextField("URLs, one a line", text: $lines, axis: .vertical).lineLimit(3)
                HStack {
                    Button("Play") { model.play(lines) }
                    Button("Next") { model.next() }
                    Button("Clear") { model.clear() }
                }
                Text(model.message).font(.footnote)
            }
            .padding()
        }

        private var timeline: BufferedTimeline {
            BufferedTimeline(model.progress, position: model.position, duration: model.duration)
        }

        private var stored: String {
            guard let length = model.progress.completeLength else { return " " }
            let bytes = DemoModel.text(model.progress.ranges.byteCount)
            return "\(bytes) of \(DemoModel.text(length)) stored"
        }
    }
#endif
