import HTTPTypes
import Reprise
import RepriseHTTPClient

/// What a configuration file says of single origin hosts.
///
/// A section for a host counts before one for its domain (`[host .example.com]`), setting by setting.
struct HostRules: Sendable {
    private let file: ConfigurationFile?
    /// The sections, the most specific first.
    private let sections: [ConfigurationFile.Section]

    init(_ file: ConfigurationFile?) {
        self.file = file
        sections = (file?.sections ?? []).sorted { HostPattern.rank($0.host) > HostPattern.rank($1.host) }
    }

    /// What counts for `host`, in lower case; `nil` if no section names it.
    func value<Given, Value>(_ setting: Setting<Given, Value>, for host: String) -> Given? {
        guard let file else { return nil }
        for section in sections where HostPattern.covers(section.host, host) {
            // The file was checked when it was read.
            if let lines = file.texts(setting, in: section.entries) { return try? setting.parse(lines.map(\.text)) }
        }
        return nil
    }

    /// Whether a section names `setting`.
    private func names(_ setting: any AnySetting) -> Bool {
        sections.contains { section in section.entries.contains { $0.name == setting.name } }
    }

    /// What counts for all hosts of `section`: a setting that is missing there comes from a less specific section.
    private func texts(
        _ setting: any AnySetting, for section: ConfigurationFile.Section
    ) -> [(text: String, line: Int)]? {
        let host = section.host.hasPrefix(".") ? String(section.host.dropFirst()) : section.host
        return sections.lazy
            .filter { HostPattern.covers($0.host, host) && HostPattern.rank($0.host) <= HostPattern.rank(section.host) }
            .compactMap { file?.texts(setting, in: $0.entries) }.first
    }

    // MARK: - What follows

    /// Rules for cache keys by section name, for sections that have any.
    var keyRules: [String: KeyRule.Host] {
        var rules: [String: KeyRule.Host] = [:]
        for section in sections {
            func texts(_ setting: any AnySetting) -> [String]? { self.texts(setting, for: section)?.map(\.text) }
            let rule = KeyRule.Host(
                items: texts(Setting<[String], [String]>.dropQueryItem),
                pathSegments: texts(Setting<[String], [String]>.hostDropPathSegment) ?? [],
                sameAs: texts(Setting<String, String?>.hostSameAs)?.first?.lowercased())
            if rule != KeyRule.Host() { rules[section.host] = rule }
        }
        return rules
    }

    /// The servers that are asked in place of the host; `nil` if no section says so.
    func parents(of host: String) -> [Parent]? {
        // The file was checked when it was read; "none" is no address.
        value(.hostParent, for: host)?.compactMap { try? Parent($0) }
    }

    /// Puts what concerns connections and request fields into `client`.
    ///
    /// Throws a reason with code 64 if a file of fields is wrong.
    func apply(to client: inout NIOOrigin.Configuration) throws {
        guard let file, !sections.isEmpty else { return }
        if names(Setting<Bool, Bool>.hostAllowPrivate) {
            // A section is about a host more specifically than the option of all hosts.
            client.allowsPrivateAddresses = { [option = client.allowsPrivateAddresses] host in
                value(.hostAllowPrivate, for: host) ?? option?(host)
            }
        }
        if names(Setting<Int, Int?>.hostConnections) {
            client.connectionsToHost = { value(.hostConnections, for: $0) }
        }
        if names(Setting<String, String?>.hostRate) {
            client.rateOfHost = { value(.hostRate, for: $0).flatMap(DownloadOptions.bytesPerSecond) }
        }
        if names(Setting<String, String?>.hostOutgoingProxy) {
            client.proxiesOfHost = { host in
                // The file was checked when it was read.
                value(.hostOutgoingProxy, for: host).flatMap { try? OriginClient.proxies($0) }
            }
        }
        if names(Setting<TimeSpan, TimeSpan?>.responseTimeout) || names(Setting<TimeSpan, TimeSpan?>.idleTimeout) {
            client.timeoutsOfHost = {
                (value(.responseTimeout, for: $0)?.duration, value(.idleTimeout, for: $0)?.duration)
            }
        }
        if names(Setting<String, String?>.trustRoots) {
            client.trustedFilesOfHost = { host in
                value(.trustRoots, for: host).map { [TrustedFile($0, source: "trust-roots")] }
            }
        }
        if names(Setting<Bool, Bool>.hostRedirectToHTTP) {
            client.mayLeaveTLS = { value(.hostRedirectToHTTP, for: $0) ?? false }
        }
        guard names(Setting<String, String?>.hostHeaderFile) else { return }
        // Each is read once.
        var fields: [String: HTTPFields] = [:]
        for section in sections {
            for (path, line) in file.texts(Setting<String, String?>.hostHeaderFile, in: section.entries) ?? []
            where fields[path] == nil {
                fields[path] = try HeaderFile.read(path, for: "\(file.name):\(line): header-file")
            }
        }
        client.credentials = { [fields] url in
            guard let path = value(.hostHeaderFile, for: url.host) else { return [:] }
            // In the clear, each machine on the way could read them.
            guard url.scheme == .https || value(.hostHeaderOverHTTP, for: url.host) ?? false else { return [:] }
            return fields[path] ?? [:]
        }
    }

    /// The credentials with which requests to a URL are signed; `nil` if no section has any.
    ///
    /// `environment` has the variables of AWS. Throws a reason with code 64 if credentials or a region are missing.
    func s3Credentials(
        environment: [String: String]
    ) throws -> (@Sendable (ResourceURL) async -> SigningOrigin.Credentials?)? {
        guard let file else { return nil }
        let settings = [Setting.s3Region, Setting.s3CredentialsFile, Setting.s3Profile]
        let signers = try sections.filter { section in
            settings.contains { file.texts($0, in: section.entries) != nil }
        }
        .map { section in
            func find(_ setting: Setting<String, String?>) -> S3Credentials.Given? {
                texts(setting, for: section)?.first.map { ($0.text, "\(file.name):\($0.line): \(setting.name)") }
            }
            let credentials = try S3Credentials(
                file: find(.s3CredentialsFile), profile: find(.s3Profile), region: find(.s3Region),
                section: "\(file.name):\(section.line): [host \(section.host)]", environment: environment)
            return (host: section.host, credentials: credentials)
        }
        guard !signers.isEmpty else { return nil }
        return { url in
            await signers.first { HostPattern.covers($0.host, url.host) }?.credentials.current()
        }
    }

    /// Puts what concerns storing and reuse, and reading ahead, into `configuration`.
    ///
    /// `forcesCache` and `readAhead` are what counts for hosts of which no section says so.
    func apply(
        to configuration: inout MediaCache.Configuration,
        forcesCache: @escaping @Sendable (String) -> Bool = { _ in false },
        readAhead: ReadAhead = .asRequested
    ) {
        configuration.reuse.forces = { value(.hostForceCache, for: $0) ?? forcesCache($0) }
        configuration.reuse.lifetimes = { value(.hostFreshFor, for: $0)?.duration }
        if readAhead != .asRequested || names(Setting<ReadAheadAmount, ReadAheadAmount?>.hostReadAhead) {
            configuration.readAhead = { value(.hostReadAhead, for: $0)?.readAhead ?? readAhead }
        }
    }

    /// What the sections say, for `reprise config`.
    var notes: [(host: String, notes: [SettingNote])] {
        guard let file else { return [] }
        return file.sections.map { section in
            let notes = SettingTable.host.compactMap { setting in
                file.texts(setting, in: section.entries).map { lines in
                    SettingNote(
                        setting, texts: lines.map(\.text), source: .file(file.name, lines: lines.map(\.line)))
                }
            }
            return (section.host, notes)
        }
    }
}
