import ArgumentParser
import Foundation
import Primitives
import Reprise
import RepriseHTTPClient
import RepriseProxy
import RepriseStreams

/// Options that every subcommand shares.
struct CacheOptions: ParsableArguments {
    @Option(
        help: Setting.cacheDir.help(
            "Directory of the cache.",
            discussion: """
                By default $CACHE_DIRECTORY, which systemd sets for services, or $XDG_CACHE_HOME/reprise or \
                ~/.cache/reprise; on macOS ~/Library/Caches/reprise.
                """,
            valueName: "dir"))
    var cacheDir: String?

    @Option(
        help: Setting.encryptKeyFile.help(
            "File with the key of an encrypted cache, 32 bytes or 64 hexadecimal digits.",
            discussion: "The key itself may be in REPRISE_ENCRYPT_KEY, in hexadecimal.", valueName: "file"))
    var encryptKeyFile: String?

    @OptionGroup var config: ConfigOptions

    func validate() throws {
        try Setting.cacheDir.check(option: cacheDir)
        try Setting.encryptKeyFile.check(option: encryptKeyFile)
    }

    /// What is in force.
    func settings() throws -> Settings { try config.settings() }

    /// How the cache is encrypted; `nil` for a plain one.
    func encryption() throws -> CacheEncryption? { try encryption(from: settings()) }

    /// The same, from `settings`.
    func encryption(from settings: Settings) throws -> CacheEncryption? {
        let digits = try settings.value(.encryptKey, given: nil)
        // A variable counts before a file's line.
        let file = try settings.value(.encryptKeyFile, given: encryptKeyFile, ignoresFile: digits != nil)
        if let file { return CacheEncryption(provider: KeyFile(path: (file as NSString).expandingTildeInPath)) }
        guard let digits else { return nil }
        guard let key = KeyFile.key(hexadecimal: digits) else {
            throw RepriseError(
                .keyUnavailable, "REPRISE_ENCRYPT_KEY must be 64 hexadecimal digits, as from: openssl rand -hex 32")
        }
        return CacheEncryption(key: key)
    }

    /// Looks at the cache, also while a server has it, which then records first what it has noted.
    func inspector() async throws -> CacheInspector {
        // The directory can be read in any case: without the server's help its newest second is missing.
        if let server = try? await ControlClient.find(self) { _ = try? await server.perform(FlushOperation()) { _ in } }
        return try recordedInspector()
    }

    /// Looks at what is recorded of the cache.
    func recordedInspector() throws -> CacheInspector {
        try CacheInspector(directory: directory, encryption: try encryption())
    }

    /// Opens the cache for `body`, which fetches nothing, and closes it; waits for another command if `isPatient`.
    func withCache<T>(
        isPatient: Bool = true, signals: StopSignals? = nil, _ body: (MediaCache) async throws -> T
    ) async throws -> T {
        var configuration = MediaCache.Configuration()
        configuration.encryption = try encryption()
        configuration.resumesDownloads = false
        configuration.usesRecordedLimit = true
        let origin = OriginClient.make()
        let cache = try await open(configuration, origin: origin, wait: isPatient ? nil : .seconds(0), signals: signals)
        let result: Result<T, any Error>
        do {
            if let problem = cache.storeProblem { throw problem }
            result = .success(try await body(cache))
        } catch { result = .failure(error) }
        await cache.close()
        await origin.shutdown()
        return try result.get()
    }

    /// The variables that have a value: an empty one counts as unset, as in the XDG Base Directory Specification 0.8.
    static var environment: [String: String] { ProcessInfo.processInfo.environment.filter { !$0.value.isEmpty } }

    /// Opens the cache as `configuration` says; on standard error stands what `--reset` drops.
    ///
    /// While another command uses the cache, waits as long as the option `wait` or its setting says; a signal ends the
    /// process then. It does not wait for a server. A directory that cannot be used is an error unless the command
    /// `mayDoWithout`: then the cache stores nothing.
    func open(
        _ configuration: MediaCache.Configuration, origin: any Origin, mayDoWithout: Bool = false,
        wait: TimeSpan? = nil, signals: StopSignals? = nil
    ) async throws -> MediaCache {
        var configuration = configuration
        configuration.downloadsStreams = true
        let isReset = Mutex(false)
        let directory = try directory
        configuration.willReset = { holdings in
            Terminal.error("reprise: --reset drops \(holdings.summary) in \(directory): the key differs.")
            isReset.withLock { $0 = true }
        }
        do {
            let cache = try await whenFree(within: try settings().value(.wait, given: wait).duration, signals) {
                [configuration] in
                try await MediaCache.open(directory: directory, origin: origin, configuration: configuration)
            }
            if isReset.withLock({ $0 }) {
                Terminal.error("reprise: Dropped.")
            } else if let reason = cache.resetReason {
                Terminal.error(
                    "reprise: The index in \(directory) could not be used: \(reason). The cache starts empty; its "
                        + "entries and pins are lost.")
            }
            return cache
        } catch let error as RepriseError {
            if error.code == .storageUnavailable, mayDoWithout {
                return MediaCache.withoutStore(origin: origin, configuration: configuration, because: error)
            }
            // With a cause the directory may not be written, and --reset would not help.
            guard error.code == .keyUnavailable, error.cause == nil, !configuration.resetsWhenKeyDiffers,
                let foreign = try MediaCache.holdings(in: directory, underAnotherKeyThan: configuration.encryption)
            else { throw error }
            throw RepriseError(
                .keyUnavailable, "\(error.message) serve, fetch and pin drop \(foreign.summary) with --reset.")
        }
    }

    /// The result of `open`, which is tried again while another command has the cache open.
    private func whenFree(
        within patience: Duration, _ signals: StopSignals?, _ open: () async throws -> MediaCache
    ) async throws -> MediaCache {
        let start = ContinuousClock.now
        var (isAnnounced, pause) = (false, Duration.milliseconds(50))
        while true {
            do { return try await open() } catch let error as RepriseError where error.code == .storageLocked {
                guard .now - start < patience, await !hasServer() else { throw error }
                if !isAnnounced, .now - start >= .seconds(1) {
                    isAnnounced = true
                    let time = TimeSpan(patience).defaultValueDescription
                    Terminal.error("reprise: Another command uses the cache. Waiting for it, for up to \(time).")
                }
            }
            signals?.endIfReceived()
            try await Task.sleep(for: pause)
            pause = min(pause * 2, .seconds(1))
            signals?.endIfReceived()
        }
    }

    /// Whether a server has the cache open, even if it does not answer.
    ///
    /// Commands send their work to it instead of waiting.
    private func hasServer() async -> Bool {
        do { return try await ControlClient.find(self) != nil } catch { return true }
    }

    /// The directory to use.
    var directory: String {
        get throws { try directory(from: settings()) }
    }

    /// The same, from `settings`.
    func directory(from settings: Settings) throws -> String {
        let text = try settings.value(.cacheDir, given: cacheDir, default: Self.defaultDirectory(Self.environment))
        let path = (text as NSString).expandingTildeInPath
        return path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    }

    /// The directory of a cache for which neither an option nor a variable of ours names one.
    static func defaultDirectory(_ environment: [String: String]) -> String {
        // systemd.exec(5), CacheDirectory=: absolute paths with colons between them; ours is the first.
        if let directory = environment["CACHE_DIRECTORY"]?.split(separator: ":").first, directory.hasPrefix("/") {
            return String(directory)
        }
        let home = environment["HOME"] ?? NSHomeDirectory()
        #if os(macOS)
            return home + "/Library/Caches/reprise"
        #else
            // XDG Base Directory Specification 0.8: relative paths must be ignored.
            if let base = environment["XDG_CACHE_HOME"], base.hasPrefix("/") { return base + "/reprise" }
            return home + "/.cache/reprise"
        #endif
    }
}

/// Options of the subcommands that open the cache for writing.
struct StoreOptions: ParsableArguments {
    @Option(
        help: Setting.limit.help("Most bytes on disk, such as 500MB or 2GB.", valueName: "size"),
        transform: { try Setting.limit.read($0) })
    var limit: ByteCount?

    @Option(
        help: Setting.dropQueryItem.help(
            "Query item that is not part of the cache key, such as a signature.", valueName: "name"))
    var dropQueryItem: [String] = []

    @Option(
        help: Setting.minimumFree.help("Bytes that stay free on the disk, such as 500MB.", valueName: "size"),
        transform: { try Setting.minimumFree.read($0) })
    var minimumFree: ByteCount?

    @Option(
        help: Setting.entryLimit.help(
            "Most bytes that one URL may occupy; larger ones are not stored.", valueName: "size"),
        transform: { try Setting.entryLimit.read($0) })
    var entryLimit: ByteCount?

    @Option(
        help: Setting.maximumAge.help("How long an entry stays unused, such as 12h or 30d.", valueName: "time"),
        transform: { try Setting.maximumAge.read($0) })
    var maximumAge: TimeSpan?

    @Option(
        help: Setting.authorizeCommand.help(
            "Program that prints fresh request fields (Name: value) or a fresh URL, a line each.",
            discussion:
                "Asked when an origin answers 401, 403 or 407, and before a download; REPRISE_URL and REPRISE_REASON (start, or the status) say for what.",
            valueName: "program"))
    var authorizeCommand: String?

    @Option(
        help: Setting.outgoingProxy.help(
            "Proxy through which origins are asked, or none.",
            discussion: """
                Such as http://proxy.lan:3128 or socks5h://127.0.0.1:9050. Hosts in no_proxy are asked directly. Other \
                users of the machine see options, so a password is better in the variable or in a file.
                """,
            valueName: "url"))
    var outgoingProxy: String?

    @OptionGroup(title: "Network") var network: NetworkOptions

    @Option(help: Setting.wait.help("Time to wait while another command uses the cache.", valueName: "time"))
    var wait: TimeSpan?

    @Flag(
        help:
            "Empty a cache that was made with another key, or with none, once the rest of the command line is found right."
    )
    var reset = false

    /// The first given option that is a setting of an open cache.
    var given: String? {
        let settings = [
            ("--limit", limit != nil), ("--minimum-free", minimumFree != nil), ("--entry-limit", entryLimit != nil),
            ("--maximum-age", maximumAge != nil), ("--authorize-command", authorizeCommand != nil),
            ("--outgoing-proxy", outgoingProxy != nil), ("--trust-roots", network.trustRoots != nil),
            ("--response-timeout", network.responseTimeout != nil), ("--idle-timeout", network.idleTimeout != nil),
        ]
        return settings.first(where: \.1)?.0
    }

    func validate() throws {
        try Setting.dropQueryItem.check(option: dropQueryItem)
        try Setting.authorizeCommand.check(option: authorizeCommand)
        try Setting.outgoingProxy.check(option: outgoingProxy)
    }

    /// The proxies through which origins are asked.
    ///
    /// Throws a reason with code 64 if a variable is wrong.
    func proxies(from settings: Settings) throws -> OutgoingProxies {
        guard let text = try settings.value(.outgoingProxy, given: outgoingProxy) else {
            return try settings.environmentProxies
        }
        return try OriginClient.proxies(text, exceptions: settings.proxyVariables.exceptions?.value ?? "")
    }

    /// The engine's settings, without a key and a program.
    func configuration(from settings: Settings) throws -> MediaCache.Configuration {
        var configuration = MediaCache.Configuration()
        configuration.resetsWhenKeyDiffers = reset
        configuration.minimumFree = try settings.value(.minimumFree, given: minimumFree).bytes
        configuration.entryLimit = try settings.value(.entryLimit, given: entryLimit)?.bytes
        configuration.maximumAge = try settings.value(.maximumAge, given: maximumAge)?.duration
        if let limit = try settings.value(.limit, given: limit) {
            configuration.limit = limit.bytes
        } else {
            configuration.usesRecordedLimit = true
        }
        return configuration
    }

    /// The engine's settings.
    func configuration(_ cache: CacheOptions) throws -> MediaCache.Configuration {
        let settings = try cache.settings()
        var configuration = try configuration(from: settings)
        configuration.encryption = try cache.encryption()
        configuration.keyPolicy = try cache.names(dropQueryItem).policy
        settings.hosts.apply(to: &configuration)
        if let program = try settings.value(.authorizeCommand, given: authorizeCommand) {
            let command = try AuthorizeCommand((program as NSString).expandingTildeInPath)
            configuration.authorize = { try await command.answer($0) }
        }
        return configuration
    }
}

/// The maximum age that a command applies at its end, and only if it did what it should.
struct Aging: Sendable {
    private let maximumAge: Duration?
    private let start = ContinuousClock.now

    /// Takes the maximum age out of `settings`.
    init(_ settings: inout MediaCache.Configuration) {
        maximumAge = settings.maximumAge
        settings.maximumAge = nil
    }

    /// Removes entries that were too old when the command began.
    func apply(to store: MediaCache) async {
        guard let maximumAge else { return }
        await store.prune(olderThan: maximumAge + (.now - start))
    }
}

extension Holdings {
    /// What goes with them, such as "3 entries, 4.19 MB, 1 pin".
    fileprivate var summary: String {
        let kept = holds == 0 ? "" : ", \(holds) \(holds == 1 ? "pin" : "pins")"
        return "\(entries) \(entries == 1 ? "entry" : "entries"), \(ByteCount(storedBytes))\(kept)"
    }
}
