extension PageScript {
    /// The other servers.
    static let peers: StaticString = #"""
        // Other servers.
        const peerStates = { ready: "Ready", degraded: "Ready, not storing", draining: "About to end", closed: "Closed",
          unreachable: "Not reached", foreign: "No server of Reprise", unknown: "Not asked yet" };
        const putSums = (row, { sinceStart: sums, usedBytes: used }) => {
          const words = sums ? [bytes(sums.savedBytes), bytes(sums.fetchedBytes),
            percent(sums.storeBytes + sums.joinedBytes, sums.servedBytes), bytes(used)] : Array(4).fill("unknown");
          words.forEach((word, index) => put(row.cells[index + 2], word));
        };
        const showPeers = ({ peers }) => {
          if (!peers) return;
          fill(byId("peers"), peers.servers, item => item.address ?? "", () => {
            const name = make("th", "", make("bdi"), make("span", "host", make("bdi")));
            name.scope = "row";
            return make("tr", "", name, ...Array.from({ length: 5 }, () => make("td")));
          }, (row, item) => {
            const name = row.cells[0];
            put(name.firstChild, item.name ?? item.address);
            put(name.lastChild.firstChild, !item.address ? "this server" : item.name ? item.address : "");
            put(row.cells[1], peerStates[item.state] ?? item.state);
            putSums(row, item);
          });
          const all = byId("all-peers"), known = peers.counted, count = peers.servers.length;
          put(all.cells[1], known === count ? "" : known + " of " + count);
          putSums(all, peers);
        };
        """#
}
