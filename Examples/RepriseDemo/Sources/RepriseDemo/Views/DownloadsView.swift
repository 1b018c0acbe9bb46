#if canImport(SwiftUI)
    import Foundation
    import RepriseAVPlayer
    import RepriseUI
    import SwiftUI

    /// The downloads, and a field to add one.
    struct DownloadsView: View {
        let model: DownloadsModel
        @State private var address = Samples.clips.first?.absoluteString ?? ""

        var body: some View {
            VStack {
                HStack {
                    TextField("URL of a file or an HLS stream", text: $address)
                    Button("Download") { Task { await model.add(address) } }
                }
                .padding(.horizontal)
                Text(model.message).font(.footnote)
                #if os(iOS)
                    // To see that downloads go on: the system launches the app again when they have come.
                    Button("Exit the app") { exit(0) }
                #endif
                List(model.downloads) { download in
                    DownloadRow(download) { action in
                        Task { await model.perform(action, on: download) }
                    }
                }
            }
        }
    }
#endif
