import Foundation
import Reprise

/// How the adapter treats a URL that an app wants to play.
enum SourceURL: Sendable, Equatable {
    /// Through the cache; `loader` is the URL by which AVFoundation asks the delegate.
    case cached(ResourceURL, loader: URL)
    /// Through the proxy in this process, because AVFoundation accepts segments only from an HTTP server.
    case stream(ResourceURL)
    /// Directly by AVFoundation, without a cache: local files, and URLs that the cache cannot fetch.
    case direct
    /// Not at all; the text says why.
    case refused(String)

    /// The prefix added to the scheme of cached URLs.
    ///
    /// Letters and a plus only: since iOS 17 Foundation rejects schemes with characters other than those of RFC 3986
    /// §3.1.
    static let prefix = "reprise+"

    /// Decides for `url`, whose type is `fileType` if the app says so.
    init(_ url: URL, fileType: String? = nil) {
        switch url.scheme?.lowercased() {
        case "http", "https":
            guard case .cached(let resource, let loader)? = Self.cached(url) else {
                self = .direct
                return
            }
            self = Self.isStream(url, fileType) ? .stream(resource) : .cached(resource, loader: loader)
        case "skd":
            self = .refused("FairPlay keys (skd:) are no media and are never cached; use AVContentKeySession.")
        default: self = .direct
        }
    }

    /// The cached form of an http or https URL, whatever its path; `nil` for a URL that cannot be requested from an
    /// origin.
    static func cached(_ url: URL) -> SourceURL? {
        // The exact text is kept beside the URL for AVFoundation, because re-encoding breaks signatures.
        guard let resource = try? ResourceURL(url.absoluteString), let loader = URL(string: prefix + url.absoluteString)
        else { return nil }
        return .cached(resource, loader: loader)
    }

    /// The origin's URL for one with our scheme, such as a link that AVFoundation resolved against an asset's URL.
    static func original(of loader: URL) -> URL? {
        guard loader.absoluteString.hasPrefix(prefix) else { return nil }
        return URL(string: String(loader.absoluteString.dropFirst(prefix.count)))
    }

    /// Whether the app, or the path, says that it is an HLS stream; the app may name a media type, too.
    private static func isStream(_ url: URL, _ fileType: String?) -> Bool {
        guard let fileType else { return isPlaylist(url) }
        return (ContentType(mediaType: fileType) ?? ContentType(fileType: fileType))?.isPlaylist == true
    }

    /// Whether the path has the extension of an HLS playlist.
    static func isPlaylist(_ url: URL) -> Bool { ["m3u8", "m3u"].contains(url.pathExtension.lowercased()) }
}

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
