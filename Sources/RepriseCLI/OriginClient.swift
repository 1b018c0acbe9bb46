import Reprise
import RepriseHTTPClient

/// Where all commands get the client that asks origins.
enum OriginClient {
    /// What stands in place of a proxy's URL for no proxy.
    static let noProxy = "none"

    /// The proxies that the text of a setting names; `exceptions` as `NO_PROXY` writes them.
    static func proxies(_ text: String, exceptions: String = "") throws(RepriseError) -> OutgoingProxies {
        text == noProxy ? OutgoingProxies() : OutgoingProxies(try OutgoingProxy(text), exceptions: exceptions)
    }

    /// The settings of a client with the proxies and what the configuration says of single hosts, after a command's own
    /// `changes`.
    static func configuration(
        for cache: CacheOptions, _ store: StoreOptions, _ changes: (inout NIOOrigin.Configuration) -> Void = { _ in }
    ) throws -> NIOOrigin.Configuration {
        let settings = try cache.settings()
        var configuration = NIOOrigin.Configuration()
        configuration.proxies = try store.proxies(from: settings)
        try store.network.apply(to: &configuration, from: settings)
        changes(&configuration)
        try settings.hosts.apply(to: &configuration)
        return configuration
    }

    /// A client with them.
    static func make(for cache: CacheOptions, _ store: StoreOptions) throws -> NIOOrigin {
        NIOOrigin(configuration: try configuration(for: cache, store))
    }

    /// `client`, behind a layer that signs requests if the configuration has credentials for S3.
    static func signing(_ client: any Origin, for cache: CacheOptions) throws -> any Origin {
        let settings = try cache.settings()
        let credentials = try settings.hosts.s3Credentials(environment: settings.environment)
        return credentials.map { SigningOrigin(client, credentials: $0) } ?? client
    }

    /// A client for servers of Reprise, which no proxy is asked for, after a command's own `changes`.
    static func make(_ changes: (inout NIOOrigin.Configuration) -> Void = { _ in }) -> NIOOrigin {
        var configuration = NIOOrigin.Configuration()
        changes(&configuration)
        return NIOOrigin(configuration: configuration)
    }
}
