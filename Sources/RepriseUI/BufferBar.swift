#if canImport(SwiftUI)
    public import SwiftUI

    /// A bar with the stored parts of a file over its length, and the player's position.
    ///
    /// ```swift
    /// BufferBar(timeline) { seconds in player.seek(to: CMTime(seconds: seconds, preferredTimescale: 600)) }
    /// ```
    /// It is as wide as there is room, and as high as the person's text size suggests. Stored parts have the tint
    /// color. It runs from left to right in all languages, as the controls of players do.
    ///
    /// With an action, a tap or a drag seeks, except on tvOS, where the player's own controls do, and VoiceOver moves
    /// it in steps of a twentieth. While the duration is unknown, as of a live stream, nothing seeks.
    public struct BufferBar: View {
        private let timeline: BufferedTimeline
        private let seek: (@MainActor (Double) -> Void)?
        @State private var steps = SteppedPosition()
        @ScaledMetric(relativeTo: .body) private var height = 12.0

        /// The part of the whole by which VoiceOver moves the position.
        private static let step = 0.05

        /// Creates a bar; `seek` is called with a time in seconds.
        public init(_ timeline: BufferedTimeline, seek: (@MainActor (Double) -> Void)? = nil) {
            self.timeline = timeline
            self.seek = timeline.canSeek ? seek : nil
        }

        /// The bar.
        public var body: some View {
            if seek == nil {
                bar
            } else {
                bar.accessibilityAdjustableAction { direction in
                    switch direction {
                    case .increment: move(by: Self.step)
                    case .decrement: move(by: -Self.step)
                    @unknown default: break
                    }
                }
            }
        }

        private var bar: some View {
            GeometryReader { geometry in
                #if os(tvOS)
                    parts(width: geometry.size.width)
                #else
                    parts(width: geometry.size.width)
                        .gesture(drag(width: geometry.size.width), including: seek == nil ? .subviews : .all)
                #endif
            }
            .frame(height: height)
            .environment(\.layoutDirection, .leftToRight)
            .accessibilityElement(children: .ignore)
            .accessibilityLabel(Text(verbatim: seek == nil ? "Stored parts" : "Position"))
            .accessibilityValue(Text(verbatim: timeline.words))
        }

        private func parts(width: Double) -> some View {
            ZStack(alignment: .leading) {
                Rectangle().fill(.quaternary)
                ForEach(timeline.spans(width: width), id: \.lowerBound) { span in
                    Rectangle().fill(.tint)
                        .frame(width: span.upperBound - span.lowerBound)
                        .offset(x: span.lowerBound)
                }
                Rectangle().fill(.primary)
                    .frame(width: 2)
                    .offset(x: max(0, width * timeline.playhead - 1))
            }
            .contentShape(Rectangle())
        }

        #if !os(tvOS)
            private func drag(width: Double) -> some Gesture {
                DragGesture(minimumDistance: 0).onEnded { value in
                    steps = SteppedPosition()
                    seek?(timeline.time(at: value.location.x, width: width))
                }
            }
        #endif

        private func move(by step: Double) {
            seek?(steps.move(by: step, in: timeline, at: .now))
        }
    }
#endif
