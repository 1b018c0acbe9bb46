package import HTTPTypes

/// The fields between two servers of Reprise of which one asks the other in place of origins: an edge and its parent.
package enum EdgeFields {
    /// In a request, the name of the edge: it edits playlists itself, and wants every body as the origin sent it.
    package static let edge = HTTPField.Name("Reprise-Edge") ?? .from
    /// In a response, the URL that answered the parent after redirects, if it is another one than the edge asked for.
    package static let finalURL = HTTPField.Name("Reprise-Final-URL") ?? .contentLocation
    /// How the caches on its way handled a request (RFC 9211).
    package static let cacheStatus = HTTPField.Name("Cache-Status") ?? .age
    /// The proxies that a message passed (RFC 9110 §7.6.3).
    package static let via = HTTPField.Name("Via") ?? .from
}
