import HTTPTypes

/// Decides from a request's fields whether a browser's request is answered, and for whom; a pure function.
///
/// Browsers say where a request comes from (Fetch Metadata, W3C) or at least which page sends it (`Origin`, Fetch
/// standard). Programs are not affected (``ClientHead/isFromBrowser``).
struct BrowserRules: Sendable {
    /// Origins of pages that may read responses, in lower case.
    let allowedPages: Set<String>
    /// Whether each page may read, because it knows an address that was made for it: receivers of casts are pages.
    var allowsAnyPage = false

    enum Verdict: Equatable, Sendable {
        case answer(Audience)
        /// Answer a preflight of this page (Fetch standard §4.8).
        case preflight(page: String)
        case refuse(String)
    }

    func judge(_ head: ClientHead) -> Verdict {
        guard head.isFromBrowser || allowedOrigin(head) != nil else { return .answer(.player) }
        guard head.count("service-worker") == 0 else {
            return .refuse("A service worker must not come from this proxy.")
        }
        let page = allowedPage(head)
        switch head.method {
        case .options where head.count("access-control-request-method") > 0:
            return page.map { .preflight(page: $0) } ?? .refuse(Self.notAllowed)
        case .other where head.count("origin") > 0 || head.count("sec-fetch-site") > 0:
            return .refuse("A page must not change anything through this proxy.")
        case .get, .head, .options, .other: break
        }
        if let destination = head.value("sec-fetch-dest")?.lowercased(), !Self.destinations.contains(destination) {
            return .refuse("This proxy serves media, not \(destination.prefix(32)) content.")
        }
        if let page { return .answer(.page(page)) }
        return isOwn(head) ? .answer(.browser) : .refuse(Self.notAllowed)
    }

    /// Whether the request comes from the user, or from the document that a browser creates around a media file.
    private func isOwn(_ head: ClientHead) -> Bool {
        switch head.value("sec-fetch-site")?.lowercased() {
        // Of this address only the proxy's own page runs a script, which asks below `/-/`: none has a reason to fetch.
        case "same-origin": head.value("sec-fetch-dest")?.lowercased() != "empty"
        case "none": true
        case nil: head.value("origin") == nil
        // Another port of this machine is the same site.
        default: false
        }
    }

    /// The page that sends the request, if it may read.
    private func allowedPage(_ head: ClientHead) -> String? {
        if allowsAnyPage { return "*" }
        guard !allowedPages.isEmpty else { return nil }
        if head.count("origin") > 0 { return allowedOrigin(head) }
        // An element without `crossorigin`, or a link, sends no Origin.
        guard let site = head.value("sec-fetch-site")?.lowercased(), site == "cross-site" || site == "same-site",
            let page = head.value("referer").flatMap({ PageOrigin(ofPage: $0) })?.text, allowedPages.contains(page)
        else { return nil }
        return page
    }

    /// The `Origin` of the request with its case preserved; `nil` if that page may not read responses.
    private func allowedOrigin(_ head: ClientHead) -> String? {
        guard !allowedPages.isEmpty, let origin = head.value("origin") else { return nil }
        return allowedPages.contains(origin.lowercased()) ? origin : nil
    }

    /// Destinations of media elements, players written in JavaScript, and a user's tab.
    private static let destinations: Set<String> = ["audio", "video", "track", "image", "empty", "document"]

    private static let notAllowed =
        "A page of another site must not use this proxy. Allow it: reprise serve --allow-page ORIGIN."
}
