#if canImport(SwiftUI)
    import SwiftUI

    /// The switch for offline, what was saved, and a tab for each way to play.
    struct DemoView: View {
        @Bindable var model: DemoModel

        var body: some View {
            VStack {
                HStack {
                    Toggle("Offline", isOn: $model.isOffline).fixedSize()
                    Spacer()
                    TimelineView(.periodic(from: .now, by: 1)) { _ in
                        Text(model.savings).font(.footnote).monospacedDigit()
                    }
                }
                .padding([.horizontal, .top])
                if let problem = model.problem { Text(problem).font(.footnote).padding(.horizontal) }
                TabView {
                    Tab("Player", systemImage: "play.rectangle") { PlayerView(model: model.player) }
                    Tab("Feed", systemImage: "rectangle.stack") { FeedView(model: model.feed) }
                    Tab("Downloads", systemImage: "arrow.down.circle") { DownloadsView(model: model.downloads) }
                }
            }
        }
    }
#endif
