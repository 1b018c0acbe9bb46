import HTTPSemantics
import Reprise

/// What the page lists.
extension PageDocument {
    func writePlaying(to page: inout Markup) {
        page.tags("<section aria-labelledby=\"playing-title\"><h2 id=\"playing-title\">Active now</h2><div>")
        writeNone(
            "<p class=\"none\" id=\"no-playing\"", if: status.playing.isEmpty, "Nothing plays, and nothing is fetched.",
            to: &page)
        page.tags("<ul id=\"playing\">")
        for item in status.playing {
            let words = ShownText.stored(item.storedBytes, of: item.completeLength, parts: item.spans.count)
            page.tags("<li class=\"item\"><div>")
            writeName(ofURL: item.url, to: &page)
            StoredBar(spans: item.spans, length: item.completeLength ?? item.storedBytes, words: words).write(to: &page)
            var facts = [words]
            if item.readers > 0 { facts.append(ShownText.count(item.readers, "reader")) }
            if item.fetches > 0 { facts.append(item.fetches == 1 ? "1 fetch" : "\(item.fetches) fetches") }
            writeFacts(facts, to: &page)
            page.tags("</div></li>")
        }
        page.tags("</ul></div></section>")
    }

    func writeTitles(to page: inout Markup) {
        page.tags(
            """
            <section aria-labelledby="titles-title"><h2 id="titles-title" tabindex="-1">Titles</h2><div>
            <div class="tools" data-script hidden><input type="search" id="search" autocomplete="off"
            placeholder="Search names, tags and addresses" aria-label="Search the titles"><button id="prune"
            type="button" hidden>Prune…</button></div>
            """)
        let isUnread = titles == nil
        writeNone(
            "<p class=\"none\" id=\"no-titles\"", if: titles?.titles.isEmpty ?? true,
            isUnread ? "The titles cannot be read now." : "Nothing is stored yet.", to: &page)
        page.tags("<ul id=\"titles\">")
        for item in titles?.titles ?? [] { writeTitle(item, to: &page) }
        page.tags("</ul><button class=\"more\" id=\"more\" type=\"button\" hidden>More titles</button></div></section>")
    }

    private func writeTitle(_ item: TitlesReport.Item, to page: inout Markup) {
        page.tags("<li class=\"item\"><div>")
        writeName(item.name, ofURL: item.url, link: "-/play?id=" + item.id, to: &page)
        for mark in [item.kept == "first" ? "beginning kept" : item.kept, item.tag.map { "#" + ShownText.plain($0) }] {
            if let mark { page.element("<span class=\"badge\"><bdi>", mark, "</bdi></span>") }
        }
        if item.isStream { page.tags("<span class=\"badge\"><bdi>stream</bdi></span>") }
        let words: String
        if let spans = item.spans {
            words = ShownText.stored(item.storedBytes, of: item.completeLength, parts: spans.count)
            StoredBar(spans: spans, length: item.completeLength ?? item.storedBytes, words: words).write(to: &page)
        } else {
            words = ShownText.stream(
                item.storedBytes, files: item.files, share: item.storedShare, isComplete: item.isComplete)
            let share = Int64((min(max(item.storedShare ?? 0, 0), 1) * 1000).rounded(.down))
            StoredBar(parts: share > 0 ? [.init(0..<share)] : [], length: 1000, words: words).write(to: &page)
        }
        var facts = [words, "played \(ShownText.count(item.plays, "time"))"]
        if let lastUsed = item.lastUsed { facts.append("\(ShownText.duration(status.time - lastUsed)) ago") }
        writeFacts(facts, to: &page)
        page.tags("</div></li>")
    }

    func writeDownloads(to page: inout Markup) {
        page.tags("<section aria-labelledby=\"downloads-title\"><h2 id=\"downloads-title\">Downloads</h2><div>")
        writeNone("<p class=\"none\" id=\"no-downloads\"", if: status.downloads.isEmpty, "No downloads.", to: &page)
        page.tags("<ul id=\"downloads\">")
        for item in status.downloads {
            let share = Int64((min(max(item.fraction, 0), 1) * 1000).rounded(.down))
            let words = ShownText.percent(item.fraction)
            page.tags("<li class=\"item\"><div>")
            writeName(ofURL: item.url, to: &page)
            StoredBar(parts: [.init(0..<share)], length: 1000, words: words + " downloaded").write(to: &page)
            writeFacts(
                [Self.words(ofState: item.state), words, item.error].compactMap { $0 }, to: &page)
            page.tags("</div></li>")
        }
        page.tags("</ul></div></section>")
    }

    private static func words(ofState state: String) -> String {
        switch state {
        case "waitingForNetwork": "Waits for the network"
        case "waitingForAuthorization": "Waits for authorization"
        case "waitingForSpace": "Waits for space"
        case "waitingForHours": "Waits for its hours"
        case "waitingForPlayback": "Waits for a player"
        default: state.prefix(1).uppercased() + state.dropFirst()
        }
    }

    func writeEvents(to page: inout Markup) {
        page.tags("<section aria-labelledby=\"events-title\"><h2 id=\"events-title\">Events</h2><div>")
        writeNone(
            "<p class=\"none\" id=\"no-events\"", if: status.events.isEmpty, "Nothing out of the ordinary.", to: &page)
        page.tags("<ol class=\"events\" id=\"events\">")
        for event in status.events.reversed() {
            let time = HTTPDate(secondsSince1970: Int64(exactly: event.time.rounded(.down)) ?? 0).iso8601
            page.tags("<li><time")
            page.attribute("datetime", time)
            page.element(">", "\(ShownText.duration(status.time - event.time)) ago", "</time>")
            page.element("<span><bdi>", event.words, "</bdi></span></li>")
        }
        page.tags("</ol></div></section>")
    }

    // MARK: - Parts

    func writeNone(_ begin: StaticString, if isShown: Bool, _ words: String, to page: inout Markup) {
        page.tags(begin)
        if !isShown { page.tags(" hidden") }
        page.element(">", words, "</p>")
    }

    private func writeName(_ name: String? = nil, ofURL url: String, link: String? = nil, to page: inout Markup) {
        let (file, host) = ShownText.name(of: url)
        let shown = name.map { ShownText.plain($0) } ?? file
        page.tags("<span class=\"name\">")
        if let link {
            page.tags("<a")
            page.attribute("href", link)
            page.element("><bdi>", shown, "</bdi></a>")
        } else {
            page.element("<bdi>", shown, "</bdi>")
        }
        page.element("</span><span class=\"host\"><bdi>", host, "</bdi></span>")
    }

    private func writeFacts(_ facts: [String], to page: inout Markup) {
        page.element("<p class=\"facts\">", facts.joined(separator: " · "), "</p>")
    }
}
