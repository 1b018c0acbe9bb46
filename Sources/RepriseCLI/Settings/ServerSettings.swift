import Foundation
import Logging
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// What is in force for the server, of its options, variables and configuration file.
struct ServerSettings: Sendable {
    let host: String
    let port: Int
    /// What the server is called.
    let name: String
    let token: String?
    /// The file of tokens with names; `nil` for none.
    let tokenFile: String?
    /// The files of the certificate and its key; `nil` for plain HTTP.
    let tlsCertificate, tlsKey: String?
    let allowedHosts, allowedPages, forcedHosts: [String]
    let privateOrigins: PrivateOrigins
    let parents: [Parent]
    let parentFallback: ParentOrigin.Fallback
    /// Servers that the page shows besides this one.
    let peers: [Parent]
    let isShared, isOffline: Bool
    let readAhead: ReadAhead
    /// Whether browsers get a page.
    let hasPage: Bool
    /// The file of the access log, `-` for standard output; `nil` for none.
    let accessLog: String?
    let accessLogFormat: AccessLogFormat
    /// Those that say for whom they ask.
    let trustedProxies: TrustedProxies
    /// Whether metrics have the names of origins.
    let namesHostsInMetrics: Bool
    /// `nil` for as many as the system allows.
    let maxConnections: Int?
    let connectionsPerHost: Int
    let stallTimeout, queueTimeout, drainTimeout, drainDelay: TimeSpan
    let hosts: HostRules

    /// Looks them up; throws a reason with code 64 if a variable is wrong.
    init(_ server: Serve, from settings: Settings) throws {
        host = try settings.value(.host, given: server.address.host)
        port = try settings.value(.port, given: server.address.port)
        name = try settings.value(.serverName, given: server.address.name)
        token = try settings.value(.token, given: server.access.token)
        tokenFile = try settings.value(.tokenFile, given: server.access.tokenFile)
        tlsCertificate = try settings.value(.tlsCertificate, given: server.address.tlsCertificate).map {
            ($0 as NSString).expandingTildeInPath
        }
        tlsKey = try settings.value(.tlsKey, given: server.address.tlsKey).map { ($0 as NSString).expandingTildeInPath }
        allowedHosts = try settings.value(.allowHost, given: server.access.allowHost).map { $0.lowercased() }
        privateOrigins = PrivateOrigins(try settings.value(.allowPrivate, given: server.access.allowPrivate))
        // Their texts were judged before.
        parents = try settings.value(.parent, given: server.upstream.parent).compactMap { try? Parent($0) }
        parentFallback = try settings.value(.parentFallback, given: server.upstream.parentFallback)
        peers = try settings.value(.peers, given: server.watching.peers).compactMap { try? Parent($0) }
        allowedPages = try settings.value(.allowPage, given: server.access.allowPage)
        forcedHosts = try settings.value(.forceCache, given: server.reuse.forceCache).map { $0.lowercased() }
        isShared = try settings.value(.shared, given: server.reuse.shared)
        isOffline = try settings.value(.offline, given: server.reuse.offline)
        readAhead = try settings.value(.readAhead, given: server.reuse.readAhead).readAhead
        hasPage = try settings.value(.page, given: server.watching.page)
        accessLog = try settings.value(.accessLog, given: server.watching.accessLog).map {
            ($0 as NSString).expandingTildeInPath
        }
        accessLogFormat = try settings.value(.accessLogFormat, given: server.watching.accessLogFormat)
        trustedProxies = TrustedProxies(try settings.value(.trustProxy, given: server.watching.trustProxy))
        namesHostsInMetrics = try settings.value(.metricsHosts, given: server.watching.metricsHosts)
        maxConnections = try settings.value(.maxConnections, given: server.clients.maxConnections)
        connectionsPerHost = try settings.value(.connectionsPerHost, given: server.upstream.connectionsPerHost)
        stallTimeout = try settings.value(.stallTimeout, given: server.clients.stallTimeout)
        queueTimeout = try settings.value(.queueTimeout, given: server.upstream.queueTimeout)
        drainTimeout = try settings.value(.drainTimeout, given: server.clients.drainTimeout)
        drainDelay = try settings.value(.drainDelay, given: server.clients.drainDelay)
        hosts = settings.hosts
    }

    /// What the file of tokens says now; nothing without one.
    ///
    /// Throws a reason with code 64 if the file cannot be used.
    func namedTokens() throws -> [AccessToken] {
        try tokenFile.map { try TokenFile.read($0, besides: token) } ?? []
    }

    /// The certificate of the server, with its key; `nil` without one.
    ///
    /// Throws a reason with code 64 if its files cannot be used.
    func certificate() throws -> ServerCertificate? {
        guard let tlsCertificate, let tlsKey else { return nil }
        return try ServerCertificate(certificate: tlsCertificate, key: tlsKey)
    }

    /// Puts what concerns the proxy into `configuration`.
    func apply(to configuration: inout ProxyConfiguration) {
        configuration.host = host
        configuration.port = port
        configuration.name = name
        configuration.token = token
        configuration.allowedHosts = allowedHosts
        configuration.allowedPages = allowedPages
        configuration.servesPage = hasPage
        if !trustedProxies.isEmpty { configuration.trustsProxy = { [trustedProxies] in trustedProxies.contain($0) } }
        configuration.namesHostsInMetrics = namesHostsInMetrics
        configuration.stallTimeout = stallTimeout.duration
    }

    /// Which servers are asked in place of origins by the server with `configuration`.
    func parents(of configuration: ProxyConfiguration) -> ParentOrigin.Configuration {
        var own = ParentOrigin.Configuration(name: configuration.name, via: configuration.via)
        own.parents = parents
        own.parentsOfHost = { [hosts] in hosts.parents(of: $0) }
        own.fallback = parentFallback
        own.onFailure = { [logger = configuration.logger] parent, error in
            logger.warning(
                "a parent did not answer", metadata: ["parent": "\(parent.address)", "reason": "\(error.message)"])
        }
        return own
    }

    /// Puts the rules of reuse, and of reading ahead, into `settings`.
    func apply(to settings: inout MediaCache.Configuration) {
        settings.reuse.isShared = isShared
        settings.reuse.isOffline = isOffline
        let forced = Set(forcedHosts)
        hosts.apply(to: &settings, forcesCache: { forced.contains($0) }, readAhead: readAhead)
    }

    /// Puts what concerns connections to origins into `client`.
    func apply(to client: inout NIOOrigin.Configuration) {
        client.maximumConnectionsPerHost = connectionsPerHost
        client.queueTimeout = queueTimeout.duration
        client.remembersLogins = !isShared
        privateOrigins.apply(to: &client)
    }
}
