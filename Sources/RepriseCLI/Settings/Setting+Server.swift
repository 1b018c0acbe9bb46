import ArgumentParser
import Reprise
import RepriseHTTPClient
import RepriseProxy

// The settings of the server.

extension Setting where Given == Int, Value == Int {
    static var port: Self {
        Self("port", rule: "must be 0 to 65535.", default: 8090) { (0...65_535).contains($0) }
    }

    static var connectionsPerHost: Self {
        Self(
            "connections-per-host", rule: "must be 1 to 256.",
            default: NIOOrigin.Configuration().maximumConnectionsPerHost
        ) { (1...256).contains($0) }
    }
}

extension Setting where Given == Int, Value == Int? {
    static var maxConnections: Self {
        Self(
            "max-connections", rule: "must be at least 1.",
            otherwise: "as many as the limit of open files allows, at most 10000"
        ) { $0 >= 1 }
    }
}

extension Setting where Given == String, Value == String {
    static var host: Self {
        Self("host", rule: "takes an address, such as 127.0.0.1.", default: "127.0.0.1") {
            ProxyConfiguration.isHost($0)
        }
    }

    static var serverName: Self {
        Self("name", rule: "takes up to 64 letters, digits and - . _ ~ only.", default: ProxyConfiguration().name) {
            ServerOptions.isName($0)
        }
    }
}

extension Setting where Given == String, Value == String? {
    static var token: Self {
        Self(
            "token", rule: "takes letters, digits and - . _ ~ only, because it is part of URLs.",
            otherwise: "paths need no token", traits: SettingTraits(isSecret: true, emptyVariable: .refused),
            accepts: { ServerOptions.goesThroughURLs($0) })
    }

    static var tokenFile: Self { protectingFile("token-file", otherwise: "no token has a name") }
    static var tlsCertificate: Self {
        protectingFile("tls-certificate", otherwise: "connections are not encrypted")
    }
    static var tlsKey: Self { protectingFile("tls-key", otherwise: "connections are not encrypted") }

    static var accessLog: Self {
        Self(
            "access-log", rule: "takes the path of a file, or - for standard output.", otherwise: "there is none",
            traits: SettingTraits(isPath: true), accepts: { !$0.isEmpty })
    }
}

extension Setting where Given == AccessLogFormat, Value == AccessLogFormat {
    static var accessLogFormat: Self { Self("access-log-format", rule: "must be json or combined.", default: .json) }
}

extension Setting where Given == [String], Value == [String] {
    static var allowHost: Self {
        // Lost on its way, it would open the server to all origins.
        Self(
            list: "allow-host", rule: "takes a host name or an IP address.", otherwise: "any origin may be asked",
            traits: SettingTraits(emptyVariable: .refused), advice: { ProxyConfiguration.objection(toHost: $0) })
    }

    static var allowPrivate: Self {
        Self(
            list: "allow-private", rule: "takes a host name, an address, or a network such as 192.168.1.0/24.",
            otherwise: "beyond loopback only public addresses are asked", advice: { PrivateOrigins.objection(to: $0) })
    }

    static var allowPage: Self {
        Self(
            list: "allow-page",
            rule: "takes an origin: http://host:port, https://host, or an app's: capacitor://localhost.",
            otherwise: "no page of another site may read",
            advice: { PageOrigin($0) == nil ? "give an origin: http://host:port or https://host." : nil })
    }

    static var parent: Self {
        // Lost on its way, it would send all requests to origins.
        Self(
            servers: "parent", otherwise: "origins are asked",
            traits: SettingTraits(shown: Parent.withoutSecrets, emptyVariable: .refused))
    }

    static var trustProxy: Self {
        Self(
            list: "trust-proxy", rule: "takes an address, or a network such as 10.0.0.0/24.",
            otherwise: "the client is who is connected", advice: { AddressRange.objection(to: $0) })
    }

    static var peers: Self {
        Self(
            servers: "peers", otherwise: "the page shows this server alone",
            traits: SettingTraits(shown: Parent.withoutSecrets))
    }

    /// A list of servers of Reprise.
    private init(servers name: String, otherwise: String, traits: SettingTraits) {
        self.init(
            list: name, rule: "takes the address of a server of Reprise, such as http://10.0.0.5:8090/TOKEN.",
            otherwise: otherwise, traits: traits,
            advice: { (try? Parent($0)) == nil ? "give http://host:port, and /TOKEN where it wants one." : nil })
    }

    static var forceCache: Self {
        Self(
            list: "force-cache", rule: "takes a host name or an IP address.", otherwise: "all origins are obeyed",
            advice: { name in
                name.hasPrefix(".")
                    ? "give each host by its whole name." : ProxyConfiguration.objection(toHost: name)
            })
    }
}

extension ParentOrigin.Fallback: ExpressibleByArgument {}

extension Setting where Given == ParentOrigin.Fallback, Value == ParentOrigin.Fallback {
    static var parentFallback: Self { Self("parent-fallback", rule: "must be direct or none.", default: .direct) }
}

extension Setting where Given == ReadAheadAmount, Value == ReadAheadAmount {
    static var readAhead: Self {
        Self("read-ahead", rule: readAheadRule, default: ReadAheadAmount(.asRequested))
    }

    static var readAheadRule: String { "takes none, a time such as 120s, a size such as 32MB, or all." }
}

extension Setting where Given == Bool, Value == Bool {
    // Lost on its way, it would store what is private.
    static var shared: Self { Self(toggle: "shared", traits: SettingTraits(emptyVariable: .refused)) }
    static var offline: Self { Self(toggle: "offline") }
    static var page: Self { Self(toggle: "page", default: true) }
    static var metricsHosts: Self { Self(toggle: "metrics-hosts", default: true) }
}

extension Setting where Given == TimeSpan, Value == TimeSpan {
    static var stallTimeout: Self {
        Self("stall-timeout", rule: TimeSpan.rule, default: TimeSpan(ProxyConfiguration().stallTimeout))
    }

    static var queueTimeout: Self {
        Self(
            "queue-timeout", rule: "takes a time from 1s to 1h with its unit, such as 30s or 2m.",
            default: TimeSpan(NIOOrigin.Configuration().queueTimeout)
        ) {
            (.seconds(1) ... .seconds(3600)).contains($0.duration)
        }
    }

    static var drainTimeout: Self { Self("drain-timeout", rule: TimeSpan.rule, default: .seconds(30)) }
    static var drainDelay: Self { Self("drain-delay", rule: TimeSpan.rule, default: .seconds(0)) }
}
