import Reprise
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

    static var s3CredentialsFile: Self {
        Self(
            "s3-credentials-file", rule: "takes the path of a file.",
            otherwise: "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY count", traits: SettingTraits(isPath: true),
            accepts: { !$0.isEmpty })
    }

    static var s3Profile: Self {
        Self(
            "s3-profile", rule: "takes the name of a profile, without blanks.", otherwise: "the profile default counts",
            accepts: { !$0.isEmpty && !$0.contains { $0.isWhitespace || $0 == "]" } })
    }

    static var s3Region: Self {
        Self(
            "s3-region", rule: "takes a region such as eu-central-1.", otherwise: "AWS_REGION counts",
            accepts: S3Credentials.isRegion)
    }

    static var hostSameAs: Self {
        Self(
            "same-as", rule: "takes the name of a host, with its port if that is not the default.",
            otherwise: "each host has entries of its own",
            accepts: { name in
                (try? ResourceURL("http://\(name)/")).map { $0.authority == name.lowercased() } ?? false
            })
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

    static var hostDropPathSegment: Self {
        Self(
            list: "drop-path-segment", rule: "takes a number from 1, or the beginning of a segment and *.",
            otherwise: "whole paths are part of keys",
            advice: { text in
                let isBeginning = text.count > 1 && text.hasSuffix("*") && !text.contains { "/?#".contains($0) }
                return isBeginning || Int(text).map { (1...99).contains($0) } == true
                    ? nil : "give a number such as 1 for the first segment, or a beginning such as token=*."
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
