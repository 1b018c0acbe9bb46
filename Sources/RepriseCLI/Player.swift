import ArgumentParser
import Reprise
import RepriseHTTPClient

/// A program that plays URLs.
struct Player {
    /// Where it is installed.
    let path: String
    /// Options without which it would stay open at the end.
    let options: [String]

    /// The players that are looked for, in order, with their options.
    private static let known: [(name: String, options: [String])] = [
        ("mpv", []), ("vlc", ["--play-and-exit"]), ("ffplay", ["-autoexit"]),
    ]

    /// Variables with which a player asks the host of `url` itself, although `environment` names a proxy.
    ///
    /// Players with ffmpeg would ask the proxy for 127.0.0.1.
    static func variables(_ environment: [String: String], for url: ResourceURL) -> [String: String] {
        let proxies = ProxyVariables(environment)
        guard (url.scheme == .https ? proxies.https : proxies.http) != nil else { return [:] }
        return ["no_proxy": (proxies.exceptions.map { "\($0.value)," } ?? "") + url.host]
    }

    /// The player called `name`, or at that path; the first that is installed if there is no name.
    ///
    /// Throws a reason with code 127 if there is none.
    static func find(_ name: String?) throws -> Player {
        if let name {
            guard let path = Programs.path(of: name) else {
                throw Failure.Reason(
                    code: ExitCode(127), name: "noPlayer",
                    message: "There is no program \(name). Name one in PATH, or give its path, with --player.")
            }
            let base = String(name.split(separator: "/").last ?? "")
            return Player(path: path, options: known.first { $0.name == base }?.options ?? [])
        }
        for (name, options) in known {
            if let path = Programs.path(of: name) { return Player(path: path, options: options) }
        }
        let names = known.map(\.name).joined(separator: ", ")
        throw Failure.Reason(
            code: ExitCode(127), name: "noPlayer",
            message: "None of \(names) is installed. Install one, or name another player with --player.")
    }
}
