package import HTTPTypes
import Primitives
package import Reprise

/// What the options of an app's items say about the requests that are made for them.
package final class ItemRules: Sendable {
    private let fields: HTTPFields
    private let partition: String?

    private struct Known {
        var networkPolicy: NetworkPolicy
        /// Hosts that the app named itself, with ports.
        var hosts: Set<String> = []
        var keys: [ResourceURL: CacheKey] = [:]
        var error: RepriseError?
    }

    private let known: Mutex<Known>
    private let followed: (@Sendable () -> NetworkPolicy)?

    /// Rules for items of these options; `followed` says which networks an item may use for which other items stand,
    /// and then holds instead of `networkPolicy`.
    package init(
        fields: HTTPFields, partition: String?, networkPolicy: NetworkPolicy,
        following followed: (@Sendable () -> NetworkPolicy)? = nil
    ) {
        self.fields = fields
        self.partition = partition
        self.followed = followed
        known = Mutex(Known(networkPolicy: networkPolicy))
    }

    /// Notes that an item plays `url`, stored under `key` if there is one; of several items the last one counts.
    package func note(_ url: ResourceURL, key: CacheKey?) {
        known.withLock { known in
            known.hosts.insert(Self.host(of: url))
            known.keys[url] = key
        }
    }

    /// The error of the last failed request; `nil` if no request has failed.
    package var error: RepriseError? { known.withLock { $0.error } }

    /// Notes that a request failed.
    func note(_ error: RepriseError) { known.withLock { $0.error = error } }

    /// Which networks requests may use now.
    package var networkPolicy: NetworkPolicy { followed?() ?? known.withLock { $0.networkPolicy } }

    /// Changes which networks further requests may use; not of rules that follow another item.
    package func setNetworkPolicy(_ policy: NetworkPolicy) { known.withLock { $0.networkPolicy = policy } }

    /// The file at `url`.
    ///
    /// The app's own fields, such as credentials, go to hosts that it named, not to all that a playlist names.
    func resource(at url: ResourceURL, in cache: MediaCache) throws(RepriseError) -> MediaResource {
        let (isNamed, key) = known.withLock { ($0.hosts.contains(Self.host(of: url)), $0.keys[url]) }
        let fields = isNamed ? fields : [:]
        var resource =
            if let key {
                try cache.resource(for: url, key: key, fields: fields)
            } else {
                try cache.resource(for: url, fields: fields, partition: partition)
            }
        resource.networkPolicy = networkPolicy
        return resource
    }

    /// Whether the app named the host of `url` itself.
    func names(_ url: ResourceURL) -> Bool { known.withLock { $0.hosts.contains(Self.host(of: url)) } }

    private static func host(of url: ResourceURL) -> String { "\(url.scheme) \(url.host):\(url.port)" }
}

/// Finds requested files in the cache, by the options of an app's items if there are any.
struct FileFinder: Sendable {
    let cache: MediaCache
    let items: ItemRules?

    /// The file at `url`; throws ``RepriseError`` with code `closed`.
    func resource(at url: ResourceURL) throws(RepriseError) -> MediaResource {
        guard let items else { return try cache.resource(for: url) }
        return try items.resource(at: url, in: cache)
    }
}
