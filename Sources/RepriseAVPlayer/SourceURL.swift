import Foundation
import Reprise

/// What the adapter does with a URL that an app wants to play.
enum SourceURL: Sendable, Equatable {
    /// Through the cache; `loader` is the URL by which AVFoundation comes to ask us.
    case cached(ResourceURL, loader: URL)
    /// Straight to AVFoundation, as if there were no cache: local files, playlists, what no cache can fetch.
    case direct
    /// Not at all; the text says why.
    case refused(String)

    /// Goes before the scheme of cached URLs.
    ///
    /// Letters and a plus only: since iOS 17 Foundation refuses schemes with other characters than RFC 3986 §3.1 has.
    static let prefix = "reprise+"

    /// Decides for `url`.
    ///
    /// Playlists (HLS) are played directly: AVFoundation accepts their segments from nobody but an HTTP server.
    init(_ url: URL) {
        switch url.scheme?.lowercased() {
        case "http", "https":
            guard !Self.isPlaylist(url), let cached = Self.cached(url) else {
                self = .direct
                return
            }
            self = cached
        case "skd":
            self = .refused("FairPlay keys (skd:) are no media and are never cached; use AVContentKeySession.")
        default: self = .direct
        }
    }

    /// The cached form of an http or https URL whatever its path; `nil` for one that no origin could be asked for.
    static func cached(_ url: URL) -> SourceURL? {
        // The exact text is kept beside the URL that AVFoundation sees: re-encoding breaks signatures.
        guard let resource = try? ResourceURL(url.absoluteString), let loader = URL(string: prefix + url.absoluteString)
        else { return nil }
        return .cached(resource, loader: loader)
    }

    /// The origin's URL behind one with our scheme: a link that AVFoundation resolved against an asset's.
    static func original(of loader: URL) -> URL? {
        guard loader.absoluteString.hasPrefix(prefix) else { return nil }
        return URL(string: String(loader.absoluteString.dropFirst(prefix.count)))
    }

    /// Whether the path looks like an HLS playlist's.
    static func isPlaylist(_ url: URL) -> Bool { ["m3u8", "m3u"].contains(url.pathExtension.lowercased()) }
}
