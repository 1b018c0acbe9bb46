import ArgumentParser
import Reprise
import RepriseHTTPClient

/// `reprise config`.
struct ConfigCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "config",
        abstract: "Print the settings of the server that are in force, and which place says so.",
        discussion: """
            An option counts before a variable, a variable before the file that --config or REPRISE_CONFIG names, and a \
            file before the default. Takes the options of serve, and starts nothing. What it prints is a configuration \
            file, except for secrets, which are not shown.

            Exit code 64 if something is wrong, such as an unknown name in the file.

            Examples:
              reprise config
              reprise config --config reprise.conf
              reprise config --changed
              reprise config --json | jq -r 'select(.source == "file") | .name'
            """)

    @OptionGroup var server: Serve
    @Flag(help: "One JSON object per line.")
    var json = false
    @Flag(help: "Only settings that differ from their defaults.")
    var changed = false

    func run() async throws {
        try await Failure.reporting {
            let settings = try server.cache.settings()
            let values = try server.lookUp(in: settings)
            try server.checkTogether(with: values)
            let objections = Serve.objections(to: values)
            if json { return try printJSON(settings, objections) }
            var lines = Self.lines(settings, changed: changed)
            lines.insert("# Cache: \(try room(in: settings))", at: 1)
            for line in lines { try Terminal.print(line) }
            // A service may get a token in its environment, or a socket that listens elsewhere.
            for (_, objection) in objections.sorted(by: { $0.key < $1.key }) {
                try Terminal.print("\n# With these settings alone, serve refuses to start: \(objection)")
            }
        }
    }

    /// The directory of the cache, and how full that is.
    private func room(in settings: Settings) throws -> String {
        let directory = try server.cache.directory(from: settings)
        do {
            let inspector = try server.cache.recordedInspector()
            let limit = try settings.value(.limit, given: server.store.limit)?.bytes ?? inspector.limit()
            let room = StoredRoom(
                storedBytes: try inspector.totals().storedBytes, limit: limit, freeBytes: inspector.freeBytes)
            return "\(directory.printable), \(room)"
        } catch {
            guard let reason = Failure.reason(error) else { throw error }
            return "\(directory.printable), which cannot be read: \(reason.message.printable)"
        }
    }

    /// The settings as a file, with comments; with `changed` only those that differ from their defaults.
    static func lines(_ settings: Settings, changed: Bool = false) -> [String] {
        let file = settings.file.map { "# File: \($0.name) (\(settings.fileSource ?? ""))" }
        var lines = [file ?? "# File: none; --config FILE or \(Settings.variable) names one", ""]
        for (name, meant) in settings.unknownVariables {
            lines.append("# \(name) is no variable of a setting." + (meant.map { " Did you mean \($0)?" } ?? ""))
        }
        lines += settings.notes.filter { !changed || $0.isChanged }.flatMap(\.lines) + proxyLines(settings)
        for (host, notes) in settings.hosts.notes {
            let shown = notes.filter { !changed || $0.isChanged }
            if !shown.isEmpty || !changed { lines += ["", "[host \(host)]"] + shown.flatMap(\.lines) }
        }
        return lines
    }

    /// The variables that name proxies, as far as they count.
    private static func proxyLines(_ settings: Settings) -> [String] {
        guard let note = settings.notes.first(where: { $0.name == Setting.outgoingProxy.name }) else { return [] }
        let variables = settings.proxyVariables
        var lines: [String] = []
        if note.source == .nowhere {
            for (scheme, variable) in [("http", variables.http), ("https", variables.https)] {
                guard let variable else { continue }
                let shown = OutgoingProxy.withoutPassword(variable.value).printable
                lines.append("# Proxy for \(scheme) URLs: \(shown) (\(variable.name))")
            }
        }
        let usesProxy = !lines.isEmpty || (note.source != .nowhere && note.texts != [OriginClient.noProxy])
        if usesProxy, let exceptions = variables.exceptions {
            lines.append("# Without a proxy: \(exceptions.value.printable) (\(exceptions.name))")
        }
        return lines
    }

    /// Prints an object for each setting.
    private func printJSON(_ settings: Settings, _ objections: [String: String]) throws {
        for note in settings.notes where !changed || note.isChanged {
            try Terminal.printJSON(SettingReport(note, objection: objections[note.name]))
        }
        for (host, notes) in settings.hosts.notes {
            for note in notes where !changed || note.isChanged {
                try Terminal.printJSON(SettingReport(note, host: host))
            }
        }
    }
}

extension Serve {
    /// Looks up every setting, as ``run()`` does.
    @discardableResult func lookUp(in settings: Settings) throws -> ServerSettings {
        let values = try ServerSettings(self, from: settings)
        _ = try store.configuration(from: settings)
        _ = try Names(store.dropQueryItem, from: settings)
        _ = try settings.value(.authorizeCommand, given: store.authorizeCommand)
        _ = try settings.value(.wait, given: store.wait)
        _ = try store.proxies(from: settings)
        var configuration = MediaCache.Configuration()
        try DownloadOptions.apply(pace, to: &configuration, from: settings)
        _ = try log.level(from: settings)
        _ = try (cache.directory(from: settings), cache.encryption(from: settings))
        var client = NIOOrigin.Configuration()
        try store.network.apply(to: &client, from: settings)
        try settings.hosts.apply(to: &client)
        _ = try settings.hosts.s3Credentials(environment: settings.environment)
        return values
    }
}
