import Foundation
import HTTPSemantics
package import HTTPTypes
import Primitives

/// The cookies that playlists set, for the files that they name: a stored playlist answers in place of the session that
/// its origin began.
///
/// In memory only.
package final class PlaylistCookies: Sendable {
    /// A leaf.
    private let jar = Mutex(CookieJar())
    /// Seconds since 1970.
    private let now: @Sendable () -> Double

    /// An empty jar; `now` is the wall-clock time in seconds since 1970.
    package init(now: @escaping @Sendable () -> Double) { self.now = now }

    /// Takes the cookies of a playlist with this metadata, which was requested at `url`.
    package func take(_ information: ContentInformation, at url: ResourceURL) {
        guard information.fields[.setCookie] != nil else { return }
        let arrival = Int64(information.responseTime?.timeIntervalSince1970 ?? now())
        jar.withLock { $0.take(information.fields, from: (information.finalURL ?? url).cookiePlace, at: arrival) }
    }

    /// `fields` of a request for `url`, with the cookies that belong to it.
    package func adding(to fields: HTTPFields, for url: ResourceURL) -> HTTPFields {
        let time = Int64(now())
        let value = jar.withLock { $0.field(for: url.cookiePlace, at: time, besides: fields[.cookie]) }
        var fields = fields
        // As one field (RFC 6265 §5.4); the other setter makes a field of each pair.
        if let value { fields[values: .cookie] = [value] }
        return fields
    }
}

extension ResourceURL {
    var cookiePlace: CookieJar.Place {
        CookieJar.Place(host: host, target: target, isSecure: scheme == .https)
    }
}
