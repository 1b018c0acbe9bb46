import Foundation

/// Decides by URL how a loading request is answered.
///
/// A delegate may be asked for URLs other than its asset's: for resources referenced by a playlist and, in apps built
/// with Xcode 26 or later on any system, for http and https URLs, including those it has redirected to. None of these
/// may receive the asset's bytes.
enum LoaderRoute: Equatable {
    /// The asset's own file.
    case asset
    /// A resource referenced by a playlist, at this URL of its origin.
    case link(URL)
    /// AVFoundation itself; the delegate declines.
    case player

    /// Decides for `url`, which is requested while an asset at `loaderURL` is loaded.
    init(_ url: URL?, loaderURL: URL, isPlaylist: Bool) {
        guard let url else {
            self = .player
            return
        }
        if Self.isSame(url, as: loaderURL) {
            self = .asset
        } else if isPlaylist, let original = SourceURL.original(of: url) {
            self = .link(original)
        } else {
            self = .player
        }
    }

    /// Whether both name the same resource, ignoring fragments, which belong to the player (RFC 3986 §3.5).
    private static func isSame(_ url: URL, as other: URL) -> Bool {
        url.absoluteString.prefix { $0 != "#" } == other.absoluteString.prefix { $0 != "#" }
    }
}
