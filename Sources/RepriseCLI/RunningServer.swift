import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// A proxy that another process of this machine runs.
enum RunningServer {
    /// The address of the proxy that has the cache of `options` open, with its token; players put it before a URL.
    ///
    /// The server itself says where it listens, over its control socket; without one it is looked for at `otherwise`.
    /// `port` is one that the user names. Throws a reason with code 75 if there is none, or if it wants another token.
    static func address(port: Int?, otherwise: Int, token: String?, of options: CacheOptions) async throws -> String {
        let suffix = token.map { "/\($0)" } ?? ""
        let report: ServerReport?
        // A port that is named may lead to a server whose socket does not answer.
        do { report = try await ControlClient.find(options)?.report } catch {
            guard port != nil else { throw error }
            report = nil
        }
        if let known = report?.address, let url = try? ResourceURL(known), port ?? url.port == url.port {
            // Its certificate is judged by the player.
            let isRefused = url.scheme == .http ? await answer(at: known + suffix)?.status == 401 : false
            guard !isRefused, report?.needsToken != true || token != nil else { throw wrongToken(url.port, options) }
            return known + suffix
        }
        let port = port ?? otherwise
        let address = "http://127.0.0.1:\(port)" + suffix
        let answer = await answer(at: address)
        if let answer, answer.status == 200, answer.text.hasPrefix("Reprise ") { return address }
        if answer?.status == 401 { throw wrongToken(port, options) }
        throw unavailable(
            "No server of Reprise answers at port \(port) of 127.0.0.1: give its port with --port, or wait longer for the other "
                + "command with --wait. Commands share a cache while a server runs: reprise serve",
            options)
    }

    private static func wrongToken(_ port: Int, _ options: CacheOptions) -> any Error {
        unavailable("The server at port \(port) wants a token: give it with --token.", options)
    }

    private static func unavailable(_ advice: String, _ options: CacheOptions) -> any Error {
        do {
            return Failure.Reason(
                code: ExitCode(75), name: "\(RepriseError.Code.storageLocked)",
                message: "Another process uses the cache in \(try options.directory). \(advice)")
        } catch { return error }
    }

    private static func answer(at address: String) async -> (status: Int, text: String)? {
        let client = OriginClient.make { client in
            client.connectTimeout = .seconds(2)
            client.responseTimeout = .seconds(5)
            client.idleTimeout = .seconds(5)
            client.redirectLimit = 0
        }
        // Whatever goes wrong, there is no server to use.
        let answer = try? await client.shortText(at: ResourceURL(address))
        await client.shutdown()
        return answer
    }
}
