#if canImport(SwiftUI)
    import AVKit
    import RepriseAVPlayer
    import SwiftUI

    /// A player, a bar with the stored parts, and some buttons.
    struct PlayerView: View {
        let model: PlayerModel
        @State private var lines = "https://example.com/song.mp3"

        var body: some View {
            VStack(spacing: 16) {
                VideoPlayer(player: model.player).frame(minHeight: 200)
                BufferBar(parts: model.progress.fractions, position: fraction) { model.seek(to: $0) }.frame(height: 16)
                Text("stored \(model.progress.ranges.byteCount) bytes, saved \(model.progress.statistics.bytesSaved)")
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

        private var fraction: Double { model.duration > 0 ? min(max(model.position / model.duration, 0), 1) : 0 }
    }

    /// The stored parts of the file, and the player's position; a tap seeks.
    struct BufferBar: View {
        let parts: [ClosedRange<Double>]
        let position: Double
        let seek: (Double) -> Void

        var body: some View {
            GeometryReader { geometry in
                let width = geometry.size.width
                ZStack(alignment: .leading) {
                    Rectangle().fill(.quaternary)
                    ForEach(parts, id: \.lowerBound) { part in
                        Rectangle().fill(.tint)
                            .frame(width: width * (part.upperBound - part.lowerBound))
                            .offset(x: width * part.lowerBound)
                    }
                    Rectangle().fill(.primary).frame(width: 2).offset(x: width * position)
                }
                .contentShape(Rectangle())
                #if !os(tvOS)
                    // A remote cannot point; there the player's own controls seek.
                    .gesture(SpatialTapGesture().onEnded { seek($0.location.x / width) })
                #endif
            }
        }
    }
#endif
