import Reprise

/// Finds the files that a proxy is asked for: in its cache, or as the options of an app's items say.
struct FileFinder: Sendable {
    let cache: MediaCache
    let items: ItemRules?

    /// The file at `url`; throws ``RepriseError`` with code `closed`.
    func resource(at url: ResourceURL) throws(RepriseError) -> MediaResource {
        guard let items else { return try cache.resource(for: url) }
        return try items.resource(at: url, in: cache)
    }
}
