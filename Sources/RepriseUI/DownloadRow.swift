#if canImport(SwiftUI)
    public import Reprise
    public import SwiftUI

    /// A row of a list of downloads: name, progress, state in words, and buttons to pause, resume and remove it.
    ///
    /// ```swift
    /// List(downloads) { download in
    ///     DownloadRow(download) { action in
    ///         Task { try await cache.downloads.perform(action, on: download.key) }
    ///     }
    /// }
    /// ```
    /// Text has the person's size. Buttons that make no sense in its state are not there.
    public struct DownloadRow: View {
        private let status: DownloadStatus
        private let perform: @MainActor (DownloadAction) -> Void

        /// Creates a row; `perform` is called when a button is pressed.
        ///
        /// Without a `name` it is the last part of the URL's path.
        public init(
            _ download: Download, name: String? = nil, perform: @escaping @MainActor (DownloadAction) -> Void
        ) {
            status = DownloadStatus(download, name: name)
            self.perform = perform
        }

        /// The row.
        public var body: some View {
            HStack {
                VStack(alignment: .leading) {
                    Text(verbatim: status.name)
                    ProgressView(value: status.shownFraction)
                    Text(verbatim: status.words).font(.caption).foregroundStyle(.secondary)
                }
                .accessibilityElement(children: .ignore)
                .accessibilityLabel(Text(verbatim: status.name))
                .accessibilityValue(Text(verbatim: status.words))
                ForEach(status.actions, id: \.self) { action in
                    Button(role: action == .remove ? .destructive : nil) {
                        perform(action)
                    } label: {
                        Image(systemName: action.symbolName)
                    }
                    .accessibilityLabel(Text(verbatim: "\(action.name) \(status.name)"))
                }
                #if !os(tvOS)
                    // In a list, buttons of another style are all pressed by a tap on the row.
                    .buttonStyle(.borderless)
                #endif
            }
        }
    }
#endif
