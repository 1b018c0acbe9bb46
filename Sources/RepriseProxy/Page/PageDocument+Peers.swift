import Reprise

/// The servers that the page names besides its own.
extension PageDocument {
    func writePeers(to page: inout Markup) {
        guard let peers = status.peers else { return }
        page.tags(
            """
            <section aria-labelledby="peers-title"><h2 id="peers-title">Servers</h2><div><div class="scroll"><table>
            <caption>This server and its peers, since each began</caption><thead><tr><th scope="col">Server</th><th
            scope="col">State</th><th scope="col" class="number">Saved</th><th scope="col" class="number">Fetched</th><th
            scope="col" class="number">Hit ratio</th><th scope="col" class="number">Disk</th></tr></thead><tbody
            id="peers">
            """)
        for server in peers.servers { write(server, to: &page) }
        page.element("</tbody><tfoot><tr id=\"all-peers\"><th scope=\"row\">All</th><td>", Self.counted(peers), "</td>")
        write(peers.sinceStart, used: peers.usedBytes, to: &page)
        page.tags("</tr></tfoot></table></div></div></section>")
    }

    private func write(_ server: PeersReport.Server, to page: inout Markup) {
        let (name, place) = Self.name(of: server)
        page.element("<tr><th scope=\"row\"><bdi>", name, "</bdi><span class=\"host\"><bdi>")
        page.element("", place, "</bdi></span></th>")
        page.element("<td>", server.state.words, "</td>")
        write(server.sinceStart, used: server.usedBytes, to: &page)
        page.tags("</tr>")
    }

    private func write(_ sums: StatusReport.Counts?, used: Int64?, to page: inout Markup) {
        let words = [
            sums.map { ByteText.decimal($0.savedBytes) }, sums.map { ByteText.decimal($0.fetchedBytes) },
            sums.map { ShownText.percent($0.storeBytes + $0.joinedBytes, of: $0.servedBytes) },
            used.map { ByteText.decimal($0) },
        ]
        for word in words { page.element("<td>", word ?? "unknown", "</td>") }
    }

    /// What a server is called, and where it is; its address stands in place of a name that is not known.
    private static func name(of server: PeersReport.Server) -> (name: String, place: String) {
        guard let address = server.address else { return (server.name ?? "", "this server") }
        return server.name.map { ($0, address) } ?? (address, "")
    }

    /// How many servers the sums are of, unless they are of all.
    private static func counted(_ peers: PeersReport) -> String {
        peers.counted == peers.servers.count ? "" : "\(peers.counted) of \(peers.servers.count)"
    }
}
