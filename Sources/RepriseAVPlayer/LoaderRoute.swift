import Foundation

/// Who answers a loading request, by the URL that AVFoundation asks for.
///
/// A delegate may be asked for other URLs than its asset's: for what a playlist names, and, by iOS 26 and apps built for
/// it, for http and https URLs, among them those to which it has redirected. None of these may get the asset's bytes.
enum LoaderRoute: Equatable {
    /// The asset's own file.
    case asset
    /// Something that a playlist names, at this URL of its origin.
    case link(URL)
    /// AVFoundation itself: the delegate declines.
    case player

    /// Decides for `url`, which is asked for while an asset at `loaderURL` is loaded.
    init(_ url: URL?, loaderURL: URL, isPlaylist: Bool) {
        guard let url else {
            self = .player
            return
        }
        if Self.isSame(url, loaderURL) {
            self = .asset
        } else if isPlaylist, let original = SourceURL.original(of: url) {
            self = .link(original)
        } else {
            self = .player
        }
    }

    /// Whether both name one resource: a fragment is the player's own (RFC 3986 §3.5).
    private static func isSame(_ url: URL, _ other: URL) -> Bool {
        url.absoluteString.prefix { $0 != "#" } == other.absoluteString.prefix { $0 != "#" }
    }
}
