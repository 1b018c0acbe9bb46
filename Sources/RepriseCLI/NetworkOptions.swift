import ArgumentParser
import Foundation
import RepriseHTTPClient

/// Timeouts for origins, and additional trusted certificates.
struct NetworkOptions: ParsableArguments {
    @Option(
        help: Setting.trustRoots.help(
            "File or directory with certificates that are trusted besides the system's, in PEM form.",
            valueName: "path"))
    var trustRoots: String?

    @Option(
        help: Setting.responseTimeout.help(
            "How long an origin may take for the head of a response, such as 90s.", valueName: "time"),
        transform: { try Setting.responseTimeout.read($0) })
    var responseTimeout: TimeSpan?

    @Option(
        help: Setting.idleTimeout.help(
            "How long an origin may be silent within a body, such as 90s.", valueName: "time"),
        transform: { try Setting.idleTimeout.read($0) })
    var idleTimeout: TimeSpan?

    func validate() throws { try Setting.trustRoots.check(option: trustRoots) }

    /// Applies the options, variables and configuration file to `client`.
    ///
    /// Throws an error with exit code 64 if a variable is invalid.
    func apply(to client: inout NIOOrigin.Configuration, from settings: Settings) throws {
        client.responseTimeout = try settings.value(.responseTimeout, given: responseTimeout)?.duration
        client.idleTimeout = try settings.value(.idleTimeout, given: idleTimeout)?.duration
        client.trustedFiles = try Self.trustedFiles(from: settings, given: trustRoots)
    }

    /// The files with additional trusted certificates.
    static func trustedFiles(from settings: Settings, given trustRoots: String?) throws -> [TrustedFile] {
        let path = try settings.value(.trustRoots, given: trustRoots)
        return TrustedFile.named(in: settings.environment)
            + (path.map { [TrustedFile(($0 as NSString).expandingTildeInPath, source: "trust-roots")] } ?? [])
    }
}
