import HTTPSemantics
import Reprise

/// The page as HTML: complete without its script, which keeps it up to date.
struct PageDocument: Sendable {
    let status: StatusReport
    /// `nil` if they cannot be read.
    let titles: TitlesReport?
    /// Names of the operations that the server knows.
    let operations: [String]
    /// The server's address as the browser sees it, with the token and without a trailing slash.
    let address: String

    /// The whole document.
    var html: String {
        var page = Markup()
        page.tags(Self.beginning)
        page.tags("<style>")
        page.tags(PageStyle.text)
        page.tags("</style>")
        page.tags("</head><body")
        page.attribute("data-operations", operations.joined(separator: " "))
        page.tags(">")
        writeTop(to: &page)
        page.tags("<main>")
        writeAddress(to: &page)
        writeHero(to: &page)
        writePlaying(to: &page)
        writeTitles(to: &page)
        writeDisk(to: &page)
        writeHosts(to: &page)
        writePeers(to: &page)
        writeDownloads(to: &page)
        writeEvents(to: &page)
        writeHealth(to: &page)
        page.tags("</main>")
        page.tags("</div>")
        page.tags(Self.dialogs)
        page.tags("<script>")
        PageScript.write(to: &page)
        page.tags("</script>")
        page.tags("</body></html>\n")
        return page.html
    }

    // MARK: - What never changes

    private static let beginning: StaticString = """
        <!DOCTYPE html>
        <html lang="en"><head><meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="robots" content="noindex">
        <title>Reprise</title>
        <link rel="icon" href="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 24 \
        24'%3E%3Cpath fill='%230a6a5a' d='M0 8h10v8H0zM14 8h6v8h-6z'/%3E%3C/svg%3E">
        <noscript><meta http-equiv="refresh" content="10"></noscript>

        """

    private static let dialogs: StaticString = """
        <p class="status" role="status" id="status"></p>
        <dialog id="ask" aria-labelledby="ask-title" aria-describedby="ask-text"><h2 id="ask-title"></h2>
        <p id="ask-text"></p><label id="prune-choice">Which titles<select id="prune-what">
        <option value="age:604800">Not used for a week</option>
        <option value="age:2592000" selected>Not used for 30 days</option>
        <option value="age:15552000">Not used for half a year</option>
        <option value="size:0.5">Until half of the media is left</option>
        <option value="size:0.25">Until a quarter of the media is left</option></select></label>
        <div class="actions"><button id="ask-no" type="button">Cancel</button>
        <button id="ask-yes" class="main" type="button">Remove</button></div></dialog>
        <dialog id="player" class="player" aria-labelledby="player-title"><h2 id="player-title"></h2>
        <div id="player-place"></div><p id="player-problem" role="alert"></p>
        <div class="actions"><button id="player-close" type="button">Close</button></div></dialog>

        """

    // MARK: - The top

    private func writeTop(to page: inout Markup) {
        page.tags(
            """
            <a class="skip" href="#titles-title">Skip to the titles</a><div class="page"><header class="top"><h1>
            <svg viewBox="0 0 24 24" aria-hidden="true"><path class="track" d="M0 8h24v8H0z"/><path
            d="M0 8h10v8H0zM14 8h6v8h-6z"/></svg>Reprise
            """)
        if status.name != CacheStatus.cacheName { page.element(" <small>", status.name, "</small>") }
        page.tags("</h1><p id=\"state\" class=\"state")
        if problem != nil { page.tags(" bad") }
        page.element("\">", mood, "</p></header>")
    }

    /// Writes the address to enter in a player.
    private func writeAddress(to page: inout Markup) {
        page.tags(
            """
            <p class="address">A player uses this cache when this stands before the URL of a film or a song:
            <code id="address">
            """)
        page.text(address + "/")
        page.element(
            """
            </code> <button id="copy" type="button" data-script
            hidden>Copy<span class="hidden"> the address</span></button> As in <code id="example">
            """, address + "/https/example.com/film.mp4", "</code></p>")
    }

    private func writeHero(to page: inout Markup) {
        let sums = status.sinceStart
        let saved = ByteText.decimal(sums.savedBytes).split(separator: " ").map(String.init)
        page.tags(
            """
            <div class="hero"><div class="figures"><div><h2>Saved since the start</h2><p class="figure" id="saved">
            """)
        page.text(saved.first ?? "")
        page.element("<small>", saved.last ?? "", "</small></p><p class=\"lead\">not fetched again in ")
        page.element("<span id=\"running\">", running, "</span>, and ")
        page.element(
            "<b id=\"life\">", status.overall.map { ByteText.decimal($0.savedBytes) } ?? "unknown",
            "</b> over the whole life of this cache.</p></div>")
        page.tags(
            """
            <div class="chart" id="chart" hidden><svg viewBox="0 0 600 100" preserveAspectRatio="none"
            aria-hidden="true"><path d="M0 99.5h600"/><polyline class="fetched"/><polyline class="served"/></svg>
            <p><span id="rates"></span><span id="peak"></span></p></div></div><h2 class="hidden">Sources</h2>
            """)
        let joined = sums.storeBytes + sums.joinedBytes
        let bar = StoredBar(
            parts: [
                .init(0..<sums.storeBytes, "store"), .init(sums.storeBytes..<joined, "joined"),
                .init(joined..<sums.servedBytes, "origin"),
            ], length: sums.servedBytes, words: "Sources of \(ByteText.decimal(sums.servedBytes)) served")
        bar.write(to: &page, id: "sources", className: "bar sources")
        page.tags("<dl class=\"legend\">")
        writeSource(
            "<div><dt><span class=\"key\"></span>From the disk</dt><dd><b id=\"store\">", sums.storeBytes,
            "</b> <span id=\"store-share\">", to: &page)
        writeSource(
            "<div><dt><span class=\"key joined\"></span>From a fetch under way</dt><dd><b id=\"joined\">",
            sums.joinedBytes, "</b> <span id=\"joined-share\">", to: &page)
        writeSource(
            "<div><dt><span class=\"key origin\"></span>From origins</dt><dd><b id=\"origin\">", sums.originBytes,
            "</b> <span id=\"origin-share\">", to: &page)
        page.element(
            "<div><dt>Hit ratio by bytes</dt><dd><b id=\"ratio\">", ShownText.percent(joined, of: sums.servedBytes),
            "</b></dd></div></dl></div>")
    }

    private func writeSource(
        _ begin: StaticString, _ bytes: Int64, _ middle: StaticString, to page: inout Markup
    ) {
        page.element(begin, ByteText.decimal(bytes), middle)
        page.element("", ShownText.percent(bytes, of: status.sinceStart.servedBytes), "</span></dd></div>")
    }

    // MARK: - Words

    /// Why nothing is stored; `nil` if all is well.
    var problem: String? {
        status.store.problem ?? (status.store.isStoring ? nil : "Nothing is stored: everything streams.")
    }

    /// How the server is, in a few words.
    var mood: String {
        if problem != nil { return "Not storing" }
        return status.isOffline ? "Offline: no origin is asked" : "Serving and storing"
    }

    /// How long the server runs.
    var running: String { ShownText.duration(status.time - status.started) }
}
