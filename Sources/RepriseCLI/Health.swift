import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// `reprise health`.
struct Health: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Ask a running server whether it lives, for containers and scripts.",
        discussion: """
            Without --url, asks the server that the settings describe. If they name a certificate, the question is \
            encrypted, and that certificate is trusted.

            Exit code 0 if it does, 1 if not.

            Examples:
              reprise health
              reprise health --ready
              reprise health --ready --url http://192.0.2.7:8090
            """)

    @OptionGroup var config: ConfigOptions

    @Flag(help: "Ask whether it should get requests: not while it ends.")
    var ready = false

    @Option(
        help: ArgumentHelp(
            "Address of the server. (default: the host and port of the variables and the configuration, or http://127.0.0.1:8090)",
            valueName: "address"))
    var url: String?

    /// How long each step of the question may take.
    private static let patience = Duration.seconds(5)

    func run() async throws {
        try await Failure.reporting {
            let settings = try config.settings()
            let question = try Self.question(url ?? PlayerAddress.configured(settings), isReady: ready)
            let trustedFiles = try Self.trustedFiles(settings)
            let client = OriginClient.make { client in
                client.trustedFiles = trustedFiles
                client.connectTimeout = Self.patience
                client.responseTimeout = Self.patience
                client.idleTimeout = Self.patience
                client.redirectLimit = 0
            }
            let result: Result<(status: Int, text: String), any Error>
            do { result = .success(try await client.shortText(at: question)) } catch { result = .failure(error) }
            await client.shutdown()
            try Self.report(result, of: question, isReady: ready)
        }
    }

    /// The files whose certificates are trusted: those for origins, and the server's own.
    private static func trustedFiles(_ settings: Settings) throws -> [TrustedFile] {
        let certificate = try settings.value(.tlsCertificate, given: nil).map {
            TrustedFile(($0 as NSString).expandingTildeInPath, source: "tls-certificate")
        }
        return try NetworkOptions.trustedFiles(from: settings, given: nil) + (certificate.map { [$0] } ?? [])
    }

    /// The URL to ask at `server`.
    private static func question(_ server: String, isReady: Bool) throws -> ResourceURL {
        let base = server.hasSuffix("/") ? String(server.dropLast()) : server
        return try ResourceURL(base + (isReady ? "/-/ready" : "/-/live"))
    }

    private static func report(
        _ result: Result<(status: Int, text: String), any Error>, of url: ResourceURL, isReady: Bool
    ) throws {
        switch result {
        case .success(let answer):
            let word = try Self.word(of: answer, at: url, isReady: isReady)
            guard answer.status == 200 else {
                throw Failure.Reason(
                    code: ExitCode(1), name: "unhealthy",
                    message: "\(Self.address(of: url)) answers \(answer.status): \(word)")
            }
            try Terminal.print(word)
        case .failure(let error as RepriseError):
            throw Failure.Reason(code: ExitCode(1), name: "\(error.code)", message: error.explanation)
        case .failure(let error): throw error
        }
    }

    /// The server of `url`, without a path that may be a token.
    private static func address(of url: ResourceURL) -> String { "\(url.scheme.rawValue)://\(url.authority)" }

    /// What a server of Reprise says in `answer`.
    ///
    /// Throws a reason with code 1, which shows nothing of the text, if it is another server's.
    private static func word(
        of answer: (status: Int, text: String), at url: ResourceURL, isReady: Bool
    ) throws -> String {
        if isReady {
            let state = PeerState(status: answer.status, text: answer.text)
            if state != .foreign { return state.rawValue }
        } else if answer.status == 200, ["ok", "ok\n"].contains(answer.text) {
            return "ok"
        }
        throw Failure.Reason(
            code: ExitCode(1), name: "foreign",
            message: "No server of Reprise answers at \(address(of: url)) (\(answer.status)). "
                + "Give the address of one with --url, without a token.")
    }
}

extension NIOOrigin {
    /// The status and the first 4 KiB of the text at `url`.
    func shortText(at url: ResourceURL) async throws -> (status: Int, text: String) {
        let response = try await send(OriginRequest(url: url))
        defer { response.body.cancel() }
        var bytes: [UInt8] = []
        while bytes.count < 4096, let piece = try await response.body.next() {
            piece.withUnsafeBytes { bytes.append(contentsOf: $0) }
        }
        return (response.head.status.code, String(decoding: bytes, as: UTF8.self))
    }
}
