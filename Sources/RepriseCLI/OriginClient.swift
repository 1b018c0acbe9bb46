import RepriseHTTPClient

/// Where all commands get the client that asks origins.
enum OriginClient {
    /// A client with the configuration of all commands, after a command's own `changes`.
    static func make(_ changes: (inout NIOOrigin.Configuration) -> Void = { _ in }) -> NIOOrigin {
        var configuration = NIOOrigin.Configuration()
        changes(&configuration)
        return NIOOrigin(configuration: configuration)
    }
}
