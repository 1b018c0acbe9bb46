#if canImport(SwiftUI)
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
                List(model.downloads) { download in
                    DownloadRow(download) { action in
                        Task { await model.perform(action, on: download) }
                    }
                }
            }
        }
    }
#endif
