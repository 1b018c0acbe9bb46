import ArgumentParser
import Foundation
import Reprise
import RepriseHTTPClient

/// A proxy that another process of this machine runs.
enum RunningServer {
    /// The address of the proxy at `port` of this machine, with its token; players put it before a URL.
    ///
    /// Throws a reason with code 75 if there is none, or if it wants another token.
    static func address(port: Int, token: String?, cacheDirectory: String) async throws -> String {
        let address = "http://127.0.0.1:\(port)" + (token.map { "/\($0)" } ?? "")
        let answer = await answer(at: address)
        if let answer, answer.status == 200, answer.text.hasPrefix("Reprise ") { return address }
        let advice =
            answer?.status == 401
            ? "The server at port \(port) wants a token: give it with --token."
            : "No server of Reprise answers at port \(port) of 127.0.0.1: give its port with --port, or stop what uses "
                + "the cache."
        throw Failure.Reason(
            code: ExitCode(75), name: "\(RepriseError.Code.storageLocked)",
            message: "Another process uses the cache in \(cacheDirectory). \(advice)")
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
