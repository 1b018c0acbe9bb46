public import Foundation
public import Reprise

extension MediaCache {
    /// Sets what may be played soon: a feed, a queue, an album, in order.
    ///
    /// Call it as often as you like, such as from a scroll callback: what is not in `urls` any more ends, what is new
    /// begins, the rest goes on. An empty list ends everything. Items that are made for the same URLs with the same
    /// `options` begin with the stored bytes.
    ///
    /// ```swift
    /// cache.preload(clips, current: visible)
    /// ```
    /// HLS streams are among it if the package is built with its trait `Streams`. URLs that are not cached are skipped,
    /// and so are all with headers that cannot be sent, or that are not stored.
    ///
    /// - Parameters:
    ///   - urls: What is played, in order.
    ///   - current: The index of what plays now, which is left to its player; `nil`, the default, if nothing does yet.
    ///   - options: Those with which the items are made.
    ///   - amount: How much to store of what lies so many places behind the current one; before it, the distance is
    ///     negative. `nil` for nothing. By default as ``PreloadAmount/atDistance(_:)`` says.
    @_disfavoredOverload  // An empty list without a type is the engine's, which does the same.
    public func preload(
        _ urls: [URL], current: Int? = nil, options: PlaybackOptions = PlaybackOptions(),
        amount: (_ distance: Int) -> PreloadAmount? = PreloadAmount.atDistance
    ) {
        let places =
            options.isStored ? Self.wantedPlaces(count: urls.count, current: current, amount: amount) : []
        // Resources are made of those only of which something is wanted: a feed may be long.
        preload(
            inOrder: places.compactMap { place in
                let resource = try? AssetSource.playable(self, url: urls[place.index], options: options)
                return resource.map { ($0, place.amount) }
            })
    }
}

extension AssetSource {
    /// The file or stream that plays through the cache at `url`; `nil` if nothing does.
    ///
    /// Throws `invalidArgument` for headers that cannot be sent, and `closed`.
    static func playable(
        _ cache: MediaCache, url: URL, options: PlaybackOptions
    ) throws(RepriseError) -> MediaResource? {
        switch SourceURL(url, fileType: options.fileType) {
        case .cached(let resource, _): return try AssetSource(cache, url: resource, options: options).resource()
        case .stream(let resource):
            #if Streams
                return try AssetSource(cache, url: resource, options: options).resource()
            #else
                return nil
            #endif
        case .direct, .refused: return nil
        }
    }
}
