#if canImport(AVFoundation) && (os(visionOS) || os(watchOS) || !Streams)
    public import AVFoundation
    public import Reprise

    extension MediaCache {
        /// Needs the trait `Streams` of the package, and external playback, which visionOS does not have.
        @available(
            *, unavailable,
            message: "needs the trait Streams of the package reprise, and external playback (not on visionOS)"
        )
        @MainActor public func followExternalPlayback(
            of player: AVPlayer,
            prepare: @escaping @MainActor (_ old: AVPlayerItem, _ new: AVPlayerItem) -> Void = { _, _ in }
        ) {}
    }
#endif
