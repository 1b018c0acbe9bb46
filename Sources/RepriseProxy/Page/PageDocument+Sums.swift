import Reprise

/// What the page counts.
extension PageDocument {
    func writeDisk(to page: inout Markup) {
        let store = status.store
        let used = store.mediaBytes + store.indexBytes
        let limit = max(store.limitBytes, used)
        let share = "\(ByteText.decimal(used)) of \(ByteText.decimal(limit)) used"
        page.tags("<section aria-labelledby=\"disk-title\"><h2 id=\"disk-title\">Disk</h2><div>")
        StoredBar(parts: [.init(0..<used)], length: limit, words: share).write(to: &page, id: "disk")
        var words =
            "\(share): \(ByteText.decimal(store.mediaBytes)) of media, \(ByteText.decimal(store.indexBytes)) of index"
        if let free = store.freeBytes { words += "; \(ByteText.decimal(free)) free on the disk" }
        page.element("<p class=\"facts\" id=\"disk-words\">", words, "</p></div></section>")
    }

    func writeHosts(to page: inout Markup) {
        page.tags("<section aria-labelledby=\"hosts-title\"><h2 id=\"hosts-title\">Hosts</h2><div>")
        writeNone("<p class=\"none\" id=\"no-hosts\"", if: status.hosts.isEmpty, "No media yet.", to: &page)
        page.tags(
            """
            <div class="scroll"><table><caption>Origins since the start</caption><thead><tr><th scope="col">Host</th><th
            scope="col" class="number">Served</th><th scope="col" class="number">Fetched</th></tr></thead><tbody
            id="hosts">
            """)
        for host in status.hosts {
            page.element("<tr><th scope=\"row\"><bdi>", host.host, "</bdi></th>")
            page.element("<td>", ByteText.decimal(host.servedBytes), "</td>")
            page.element("<td>", ByteText.decimal(host.fetchedBytes), "</td></tr>")
        }
        page.tags("</tbody></table></div><ul id=\"remarks\">")
        for remark in status.remarks { page.element("<li>", "\(remark.host): \(remark.reason)", "</li>") }
        page.tags("</ul></div></section>")
    }

    func writeHealth(to page: inout Markup) {
        page.tags(
            "<section aria-labelledby=\"health-title\"><h2 id=\"health-title\">Health</h2><div><ul id=\"health\">")
        if let problem { page.element("<li>", problem, "</li>") }
        page.element("<li>", mood + ".", "</li>")
        let connections = ShownText.count(status.connections, "connection")
        let answers = ShownText.count(status.answers, "answer")
        let listeners = ShownText.count(status.listeners, "listener")
        page.element("<li>", "\(connections), \(answers) under way, \(listeners) to events.", "</li>")
        let rules = status.isShared ? "shared" : "private"
        page.element("<li>", "Running for \(running), by the rules of a \(rules) cache.", "</li></ul>")
        page.tags(
            """
            <div class="scroll"><table><caption>Sums</caption><thead><tr><td></td><th scope="col" class="number">Since
            the start</th><th scope="col" class="number">Over all</th></tr></thead><tbody id="sums">
            """)
        writeSum("<tr data-sum=\"savedBytes\"><th scope=\"row\">Saved</th>", \.savedBytes, ByteText.decimal, to: &page)
        writeSum(
            "<tr data-sum=\"servedBytes\"><th scope=\"row\">Served</th>", \.servedBytes, ByteText.decimal, to: &page)
        writeSum(
            "<tr data-sum=\"fetchedBytes\"><th scope=\"row\">Fetched from origins</th>", \.fetchedBytes,
            ByteText.decimal, to: &page)
        writeSum(
            "<tr data-sum=\"originRequests\"><th scope=\"row\">Requests to origins</th>", \.originRequests, { "\($0)" },
            to: &page)
        writeSum("<tr data-sum=\"reads\"><th scope=\"row\">Reads</th>", \.reads, { "\($0)" }, to: &page)
        page.tags("</tbody></table></div></div></section>")
    }

    private func writeSum(
        _ begin: StaticString, _ sum: KeyPath<StatusReport.Counts, Int64>, _ words: (Int64) -> String,
        to page: inout Markup
    ) {
        page.tags(begin)
        page.element("<td>", words(status.sinceStart[keyPath: sum]), "</td>")
        page.element("<td>", status.overall.map { words($0[keyPath: sum]) } ?? "unknown", "</td></tr>")
    }
}
