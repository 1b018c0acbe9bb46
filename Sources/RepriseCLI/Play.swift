import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// `reprise play`.
struct Play: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Play a URL through the cache, with mpv, VLC or ffplay.",
        discussion: """
            Starts a proxy for as long as the player runs, or uses the server that has \
            this cache, which says where it listens. Plays files, HLS and DASH. What stands after -- goes to the player.

            Exit codes: the player's own; 126 if it cannot be started; 127 if there is \
            none; 75 if another process uses the cache and no server is found.

            Examples:
              reprise play https://example.com/film.mp4
              reprise play https://example.com/show/master.m3u8 -- --fullscreen
              reprise play --player vlc https://example.com/song.mp3
              reprise play --offline https://example.com/film.mp4
              reprise play --port 9000 https://example.com/film.mp4
            """)

    @Argument(help: "URL to play.")
    var url: String

    @Option(
        help: ArgumentHelp(
            "Player to start, by name or path. (default: the first of mpv, vlc, ffplay that is installed)",
            valueName: "program"))
    var player: String?

    @Option(help: Setting.port.help("Port of the server that already serves this cache, if it does not say so itself."))
    var port: Int?

    @Option(help: Setting.token.help("Token of that server."))
    var token: String?

    @Flag(
        inversion: .prefixedNo,
        help: Setting.offline.help("Never ask an origin: play stored bytes, however stale."))
    var offline: Bool?

    @Argument(parsing: .postTerminator, help: ArgumentHelp("Options for the player.", valueName: "player-options"))
    var playerOptions: [String] = []
    @OptionGroup var store: StoreOptions
    @OptionGroup var log: LogOptions
    @OptionGroup var cache: CacheOptions

    func validate() throws {
        if let port, !(1...65_535).contains(port) { throw ValidationError("--port must be 1 to 65535.") }
        try Setting.token.check(option: token)
        if player?.isEmpty == true { throw ValidationError("--player is empty; name a program, such as mpv.") }
    }

    func run() async throws {
        let signals = StopSignals()
        let levels = LogLevelSwitch(try log.level(from: cache.settings(), otherwise: .error))
        let logger = LogOptions.logger(levels: levels)
        try await Failure.reporting {
            let values = try cache.settings()
            let token = try values.value(.token, given: token)
            let usualPort = try values.value(.port, given: nil)
            let url = try ResourceURL(try await cache.behindOwn(url))
            let player = try Player.find(player)
            var settings = try store.configuration(cache)
            // They would compete with the player.
            settings.resumesDownloads = false
            settings.reuse.isOffline = try values.value(.offline, given: offline)
            let origin = try OriginClient.make(for: cache, self.store)
            let layers = try OriginClient.signing(origin, for: cache)
            let result: Result<Int32, any Error>
            do {
                // A cache that cannot be written must not stop playback.
                let store = try await cache.open(
                    settings, origin: layers, mayDoWithout: true, wait: port == nil ? self.store.wait : .seconds(0),
                    signals: signals)
                if let reason = store.storeProblem.flatMap({ Failure.reason($0) }) { Failure.report(reason) }
                let bypasses = Self.bypasses(of: store)
                var configuration = ProxyConfiguration()
                configuration.logger = logger
                result = await signals.interrupting { [configuration] in
                    try await play(url, with: player, through: store, configuration: configuration)
                }
                await warnOfPage(at: url, in: store)
                await store.close()
                for reason in await bypasses.value { Terminal.error("reprise: Not everything was stored. \(reason)") }
                for remark in store.hostRemarks { Failure.report(remark) }
            } catch let error as RepriseError where error.code == .storageLocked {
                if offline != nil, try await cache.server() != nil { throw CacheOptions.setByServer("--offline") }
                result = await signals.interrupting { [cache, port] in
                    let address = try await RunningServer.address(
                        port: port, otherwise: usualPort, token: token, of: cache)
                    return try await play(url, with: player, at: address)
                }
            }
            await origin.shutdown()
            let code = try signals.get(result)
            if code != 0 { throw ExitCode(code) }
        }
    }

    /// Plays through a proxy that lives as long as the player; the player's exit code.
    private func play(
        _ url: ResourceURL, with player: Player, through cache: MediaCache, configuration: ProxyConfiguration
    ) async throws -> Int32 {
        let server = try await ProxyServer.start(cache, configuration: configuration)
        let result: Result<Int32, any Error>
        do { result = .success(try await play(url, with: player, at: server.address)) } catch {
            result = .failure(error)
        }
        await server.stop()
        let code = try result.get()
        // Count only the bytes sent to this player, not those of concurrent downloads.
        let played = server.servedBytes
        let saved = played.store + played.joined
        let all = saved + played.origin
        if let failure = server.lastFailure {
            Terminal.error("reprise: \(all > 0 ? "Not everything could be played. " : "")\(failure.explanation)")
        } else if all == 0, let reason = await obstacle(to: url, in: cache) {
            Failure.report(reason)
        }
        Terminal.error("reprise: \(ByteCount(all)) played, \(ByteCount(saved)) of it from the cache.")
        return code
    }

    /// Why bytes of the played files bypass the store, each reason once; complete when `cache` is closed.
    private static func bypasses(of cache: MediaCache) -> Task<[String], Never> {
        let (events, isReported) = (cache.events(), cache.storeProblem != nil)
        return Task {
            var reasons: [String] = []
            for await case .storeBypassed(let key, let reason) in events where !(key == nil && isReported) {
                if !reasons.contains(reason) { reasons.append(reason) }
            }
            return reasons
        }
    }

    /// Why nothing of `url` can be played; `nil` if its first byte can be read.
    private func obstacle(to url: ResourceURL, in cache: MediaCache) async -> Failure.Reason? {
        do {
            let read = try await cache.resource(for: url).read(0..<1)
            defer { read.cancel() }
            _ = try await read.next()
            return nil
        } catch { return Failure.reason(error) }
    }

    /// Prints a warning if `url` is a web page, which players cannot play.
    private func warnOfPage(at url: ResourceURL, in cache: MediaCache) async {
        // Without an entry there is nothing to judge. Playback errors have been reported already.
        guard let stored = await (try? cache.resource(for: url))?.stored(),
            let page = WebPage.objection(to: stored.information, at: url)
        else { return }
        Terminal.error("reprise: \(page.message)")
    }

    private func play(_ url: ResourceURL, with player: Player, at address: String) async throws -> Int32 {
        let target = url.through(address)
        let process = try RunningProgram(
            player.path, arguments: player.options + playerOptions + [target],
            variables: Player.variables(CacheOptions.environment, for: try ResourceURL(target)))
        let code = await process.wait()
        try Task.checkCancellation()
        return code
    }
}
