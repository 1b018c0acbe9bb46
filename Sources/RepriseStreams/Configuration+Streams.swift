public import Reprise

extension MediaCache.Configuration {
    /// Whether a download of a playlist is one of the stream: HLS and DASH; false by default.
    ///
    /// Without it a playlist is downloaded as the file that it is. ``Downloads/add(_:selection:)`` says what of the
    /// stream.
    public var downloadsStreams: Bool {
        get { streamPlanner != nil }
        set { streamPlanner = newValue ? PlaylistPlanner() : nil }
    }
}
