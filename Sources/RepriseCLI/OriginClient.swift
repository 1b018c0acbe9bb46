import Reprise
import RepriseHTTPClient

/// Where all commands get the client that asks origins.
enum OriginClient {
    /// A client with what the configuration says of single hosts, after a command's own `changes`.
    static func make(
        for cache: CacheOptions, _ changes: (inout NIOOrigin.Configuration) -> Void = { _ in }
    ) throws -> NIOOrigin {
        let hosts = try cache.settings().hosts
        var configuration = NIOOrigin.Configuration()
        changes(&configuration)
        try hosts.apply(to: &configuration)
        return NIOOrigin(configuration: configuration)
    }

    /// A client with the configuration of all commands, after a command's own `changes`.
    static func make(_ changes: (inout NIOOrigin.Configuration) -> Void = { _ in }) -> NIOOrigin {
        var configuration = NIOOrigin.Configuration()
        changes(&configuration)
        return NIOOrigin(configuration: configuration)
    }
}
