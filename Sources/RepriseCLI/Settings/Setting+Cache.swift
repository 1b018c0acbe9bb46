import Reprise
import RepriseHTTPClient

// The settings of the cache, which most subcommands take.

extension Setting where Given == String, Value == String? {
    static var cacheDir: Self {
        Self(
            "cache-dir", rule: "takes the path of a directory.", otherwise: "the directory for caches of this user",
            traits: SettingTraits(isPath: true), accepts: { !$0.isEmpty })
    }

    static var encryptKeyFile: Self { protectingFile("encrypt-key-file", otherwise: "the cache is not encrypted") }

    /// A file that protects something: an empty variable is refused, because a path that got lost on its way must not
    /// leave it open.
    static func protectingFile(_ name: String, otherwise: String) -> Self {
        Self(
            name, rule: "takes the path of a file.", otherwise: otherwise,
            traits: SettingTraits(isPath: true, emptyVariable: .refused), accepts: { !$0.isEmpty })
    }

    static var encryptKey: Self {
        Self(
            "encrypt-key", rule: "must be 64 hexadecimal digits.", otherwise: "encrypt-key-file counts",
            traits: SettingTraits(isSecret: true, isVariableOnly: true, emptyVariable: .value))
    }

    static var authorizeCommand: Self {
        Self(
            "authorize-command", rule: "takes the name or the path of a program.", otherwise: "no program is asked",
            accepts: { !$0.isEmpty })
    }

    static var outgoingProxy: Self {
        // Lost on its way, it would show this machine to origins.
        Self(
            "outgoing-proxy", rule: proxyRule,
            otherwise: "what http_proxy, https_proxy, all_proxy and no_proxy say",
            traits: SettingTraits(shown: OutgoingProxy.withoutPassword, emptyVariable: .refused), accepts: isProxy)
    }

    static var trustRoots: Self {
        Self(
            "trust-roots", rule: "takes the path of a file or of a directory.",
            otherwise: "the system's roots, and those that SSL_CERT_FILE and SSL_CERT_DIR name",
            traits: SettingTraits(isPath: true), accepts: { !$0.isEmpty })
    }

    static var proxyRule: String {
        "takes none or the URL of a proxy, http://, https://, socks5:// or socks5h://, such as "
            + "http://proxy.lan:3128; before the host user:password@ in percent-encoding."
    }

    static func isProxy(_ text: String) -> Bool { (try? OriginClient.proxies(text)) != nil }

    static var rateRule: String {
        "takes a rate of at least one byte per second with its unit, such as 8bit, 20Mbit or 2MB."
    }

    static var rate: Self {
        Self(
            "rate",
            rule: rateRule,
            otherwise: "as fast as it goes", accepts: { DownloadOptions.bytesPerSecond($0) != nil })
    }

    static var hours: Self {
        Self(
            "while", rule: "takes hours of the day such as 02:00-06:00, or 22:30-06:00 across midnight.",
            otherwise: "at any hour", accepts: { DownloadOptions.window($0) != nil })
    }
}

extension Setting where Given == LogLevel, Value == LogLevel? {
    static var logLevel: Self {
        Self(
            "log-level", rule: "must be trace, debug, info, notice, warning or error.",
            otherwise: "notice; error for play")
    }
}

extension Setting where Given == ByteCount, Value == ByteCount? {
    static var limit: Self {
        Self("limit", rule: sizeRule, otherwise: "the limit last given for this cache, or 2GB") { $0.bytes > 0 }
    }

    static var entryLimit: Self {
        Self("entry-limit", rule: sizeRule, otherwise: "as large as the limit") { $0.bytes > 0 }
    }

    private static var sizeRule: String {
        "takes a size above zero with its unit, \(ByteCount.units), such as 500MB or 2GB."
    }
}

extension Setting where Given == ByteCount, Value == ByteCount {
    static var minimumFree: Self {
        Self(
            "minimum-free", rule: ByteCount.rule,
            default: ByteCount(MediaCache.Configuration().minimumFree))
    }
}

extension Setting where Given == TimeSpan, Value == TimeSpan {
    static var wait: Self { Self("wait", rule: TimeSpan.rule, default: .seconds(10)) }
}

extension Setting where Given == TimeSpan, Value == TimeSpan? {
    static var responseTimeout: Self {
        silence("response-timeout", otherwise: "5m, and 10s if a stored response can be served in its place")
    }

    static var idleTimeout: Self { silence("idle-timeout", otherwise: "5m, and 30s if a range can fetch the rest") }

    /// A timeout for a silent origin, from 1 second to 1 day.
    private static func silence(_ name: String, otherwise: String) -> Self {
        Self(name, rule: "takes a time from 1s to 1d with its unit, such as 90s or 5m.", otherwise: otherwise) {
            (.seconds(1) ... .seconds(86_400)).contains($0.duration)
        }
    }

    static var maximumAge: Self {
        Self(
            "maximum-age", rule: "takes a time above zero with its unit, \(TimeSpan.units), such as 12h or 30d.",
            otherwise: "without end"
        ) { $0.duration > .zero }
    }
}

extension Setting where Given == [String], Value == [String] {
    static var dropQueryItem: Self {
        Self(
            list: "drop-query-item", rule: "takes the name of a query item.", otherwise: "whole URLs are keys",
            advice: { name in
                name.contains { "=&?#".contains($0) } ? "give the name alone, such as signature." : nil
            })
    }
}
