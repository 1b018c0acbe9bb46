import RepriseHTTPClient

// The settings of one origin host, in a section of a file.

extension Setting where Given == Bool, Value == Bool {
    static var hostForceCache: Self { Self(toggle: "force-cache") }
    static var hostAllowPrivate: Self { Self(toggle: "allow-private") }
    static var hostRedirectToHTTP: Self { Self(toggle: "redirect-to-http") }
    static var hostHeaderOverHTTP: Self { Self(toggle: "header-over-http") }
}

extension Setting where Given == String, Value == String? {
    static var hostHeaderFile: Self {
        Self(
            "header-file", rule: "takes the path of a file.", otherwise: "no fields are added",
            traits: SettingTraits(isPath: true), accepts: { !$0.isEmpty })
    }

    static var hostOutgoingProxy: Self {
        Self(
            "outgoing-proxy", rule: proxyRule, otherwise: "what counts for all hosts",
            traits: SettingTraits(shown: OutgoingProxy.withoutPassword), accepts: isProxy)
    }
}

extension Setting where Given == [String], Value == [String] {
    static var hostParent: Self {
        Self(
            list: "parent", rule: "takes none, or the address of a server of Reprise.",
            otherwise: "what counts for all hosts", traits: SettingTraits(shown: Parent.withoutSecrets),
            advice: { text in
                text == noParent || (try? Parent(text)) != nil
                    ? nil : "give none, or http://host:port, and /TOKEN where it wants one."
            })
    }

    /// What stands in place of an address for no parent.
    static var noParent: String { "none" }
}

extension Setting where Given == String, Value == String? {
    static var hostRate: Self {
        Self("rate", rule: rateRule, otherwise: "as fast as the host sends") {
            DownloadOptions.bytesPerSecond($0) != nil
        }
    }
}

extension Setting where Given == TimeSpan, Value == TimeSpan? {
    static var hostFreshFor: Self {
        Self(
            "fresh-for", rule: "takes a time of at least a second, such as 12h.",
            otherwise: "what the rules of HTTP say, or a day with force-cache"
        ) { $0.duration > .zero }
    }
}

extension Setting where Given == ReadAheadAmount, Value == ReadAheadAmount? {
    static var hostReadAhead: Self {
        Self(
            "read-ahead", rule: Setting<ReadAheadAmount, ReadAheadAmount>.readAheadRule,
            otherwise: "what counts for all hosts")
    }
}

extension Setting where Given == Int, Value == Int? {
    static var hostConnections: Self {
        Self("connections", rule: "must be 1 to 256.", otherwise: "connections-per-host counts") {
            (1...256).contains($0)
        }
    }
}
