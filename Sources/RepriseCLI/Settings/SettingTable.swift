import RepriseHTTPClient
import RepriseProxy

/// The settings that there are; a new one begins here.
enum SettingTable {
    /// Those that are options, variables and names in files, in the order in which people read them.
    static let all: [any AnySetting] = [
        Setting<String, String?>.cacheDir, Setting<String, String?>.encryptKeyFile,
        Setting<String, String?>.encryptKey, Setting<LogLevel, LogLevel?>.logLevel,
        Setting<ByteCount, ByteCount?>.limit, Setting<ByteCount, ByteCount>.minimumFree,
        Setting<ByteCount, ByteCount?>.entryLimit, Setting<TimeSpan, TimeSpan?>.maximumAge,
        Setting<TimeSpan, TimeSpan>.wait,
        Setting<[String], [String]>.dropQueryItem, Setting<String, String?>.authorizeCommand,
        Setting<String, String?>.outgoingProxy, Setting<String, String?>.trustRoots,
        Setting<TimeSpan, TimeSpan?>.responseTimeout, Setting<TimeSpan, TimeSpan?>.idleTimeout,
        Setting<String, String?>.rate, Setting<String, String?>.hours, Setting<String, String>.host,
        Setting<Int, Int>.port, Setting<String, String>.serverName, Setting<String, String?>.token,
        Setting<String, String?>.tokenFile, Setting<String, String?>.tlsCertificate,
        Setting<String, String?>.tlsKey, Setting<[String], [String]>.allowHost,
        Setting<[String], [String]>.allowPrivate,
        Setting<[String], [String]>.allowPage, Setting<Bool, Bool>.shared, Setting<Bool, Bool>.offline,
        Setting<[String], [String]>.parent, Setting<ParentOrigin.Fallback, ParentOrigin.Fallback>.parentFallback,
        Setting<[String], [String]>.forceCache, Setting<ReadAheadAmount, ReadAheadAmount>.readAhead,
        Setting<Bool, Bool>.page, Setting<[String], [String]>.peers, Setting<String, String?>.accessLog,
        Setting<AccessLogFormat, AccessLogFormat>.accessLogFormat, Setting<[String], [String]>.trustProxy,
        Setting<Bool, Bool>.metricsHosts,
        Setting<Int, Int?>.maxConnections,
        Setting<TimeSpan, TimeSpan>.stallTimeout, Setting<Int, Int>.connectionsPerHost,
        Setting<TimeSpan, TimeSpan>.queueTimeout, Setting<TimeSpan, TimeSpan>.drainTimeout,
        Setting<TimeSpan, TimeSpan>.drainDelay,
    ]

    /// Those of a section `[host NAME]`.
    static let host: [any AnySetting] = [
        Setting<[String], [String]>.dropQueryItem, Setting<[String], [String]>.hostDropPathSegment,
        Setting<String, String?>.hostSameAs, Setting<Bool, Bool>.hostForceCache,
        Setting<TimeSpan, TimeSpan?>.hostFreshFor, Setting<String, String?>.hostHeaderFile,
        Setting<Bool, Bool>.hostHeaderOverHTTP, Setting<Int, Int?>.hostConnections,
        Setting<String, String?>.hostRate, Setting<ReadAheadAmount, ReadAheadAmount?>.hostReadAhead,
        Setting<Bool, Bool>.hostAllowPrivate, Setting<String, String?>.hostOutgoingProxy,
        Setting<[String], [String]>.hostParent, Setting<String, String?>.trustRoots,
        Setting<TimeSpan, TimeSpan?>.responseTimeout, Setting<TimeSpan, TimeSpan?>.idleTimeout,
        Setting<Bool, Bool>.hostRedirectToHTTP, Setting<String, String?>.s3Region,
        Setting<String, String?>.s3CredentialsFile, Setting<String, String?>.s3Profile,
    ]

    /// Those that a file may name before its first section.
    static var inFiles: [any AnySetting] { all.filter { !$0.traits.isVariableOnly } }
}
