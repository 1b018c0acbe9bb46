#if canImport(AVFoundation) && (os(visionOS) || os(watchOS))
    public import AVFoundation
    public import Reprise

    extension MediaCache {
        /// Not on this system, which has no external playback.
        @available(
            *, unavailable, message: "this system has no external playback: leave the call out with #if !os(visionOS)"
        )
        @MainActor public func followExternalPlayback(
            of player: AVPlayer,
            prepare: @escaping @MainActor (_ old: AVPlayerItem, _ new: AVPlayerItem) -> Void = { _, _ in }
        ) {}
    }
#elseif canImport(AVFoundation) && !Streams
    public import AVFoundation
    public import Reprise

    extension MediaCache {
        /// Needs the trait `Streams` of the package.
        @available(
            *, unavailable, message: "followExternalPlayback needs the trait Streams of the package reprise"
        )
        @MainActor public func followExternalPlayback(
            of player: AVPlayer,
            prepare: @escaping @MainActor (_ old: AVPlayerItem, _ new: AVPlayerItem) -> Void = { _, _ in }
        ) {}
    }
#endif
