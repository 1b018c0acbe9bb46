import Foundation
import Reprise
import RepriseHTTPClient
import RepriseProxy

/// The first lines of `serve`: its address, its cache, and an example for players.
struct Announcement {
    let server: ProxyServer
    let cache: MediaCache
    let directory: String
    let values: ServerSettings
    /// The option, the variable or the file that gives the token.
    let tokenPlace: String?

    /// Prints them, to standard error if standard output is the access log.
    ///
    /// Only a terminal shows the token: other outputs are often kept, such as the journal of systemd.
    func print() async {
        // Lines of the access log are not mixed with others.
        guard values.accessLog != "-" else {
            return Terminal.error(await lines(showingToken: Terminal.isTerminal(STDERR_FILENO)))
        }
        // It serves all the same.
        do { try Terminal.print(await lines(showingToken: Terminal.isTerminal(STDOUT_FILENO))) } catch {
            Terminal.error("reprise: \(error.message)")
        }
    }

    private func lines(showingToken: Bool) async -> String {
        let room = StoredRoom(storedBytes: cache.storedBytes, limit: cache.limit, freeBytes: cache.freeBytes)
        let stored = "\(directory), \(room)"
        let place = cache.isStoring ? stored : cache.isReadOnly ? "\(stored), read-only" : "no store"
        let shortage = await cache.lackOfRoom().map { "\nNothing can be stored: \($0.advice)" } ?? ""
        let hours = cache.downloads.window.map { "\nDownloads run \($0) only, in local time." } ?? ""
        let (address, token) = address(showingToken: showingToken)
        let listening = values.token == nil ? server.address : address
        let others = server.isOnAllAddresses ? "\nOther machines reach it at \(Self.elsewhere(address))" : ""
        let page = server.hasPage ? "\nPage for a browser: \(address)/" : ""
        return """
            Reprise is listening on \(listening)\(others)
            Cache: \(place)\(shortage)\(hours)\(page)
            Put this before a media URL, scheme as the first segment, for example:
              mpv \(address)/https/example.com/film.mp4\(token)
            """
    }

    /// The address for players, and a line about the token in it.
    private func address(showingToken: Bool) -> (String, String) {
        if let token = values.token {
            guard !showingToken else { return (server.address, "") }
            let place = tokenPlace.map { " It is that of \($0.printable)." } ?? ""
            return (
                "\(server.address.dropLast(token.count))***",
                "\n*** stands for the token, which only a terminal shows.\(place)"
            )
        }
        guard let file = values.tokenFile else { return (server.address, "") }
        return (server.address + "/TOKEN", "\nTOKEN stands for one of those in \(file.printable).")
    }

    /// The address for other machines of the network, instead of `address` on loopback.
    private static func elsewhere(_ address: String) -> String {
        guard let local = NetworkInterface.localAddress(), let url = try? ResourceURL(address) else {
            return "the name or an address of this one."
        }
        let path = url.target == "/" ? "" : url.target
        return "\(url.scheme.rawValue)://\(local):\(url.port)\(path)/"
    }
}
