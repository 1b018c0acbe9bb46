/// Decides whether a request for control is carried out; a pure function.
///
/// A page of another site must neither read nor change anything here, whatever else the proxy allows it
/// (``BrowserRules``). Browsers say from which site a request comes (Fetch Metadata, W3C); those that do not say it are
/// trusted only with a token, which a page of another site does not know.
struct ControlRules: Sendable {
    /// Whether the path begins with a token.
    let hasToken: Bool

    /// Why a request with `head` is refused; `nil` if it is not.
    func objection(to head: ClientHead) -> String? {
        guard head.count("service-worker") == 0 else { return "A service worker must not come from this proxy." }
        guard head.mayBeFromBrowser else { return nil }
        // A preflight asks for what no other site may do.
        guard head.count("access-control-request-method") == 0, head.count("origin") <= 1,
            head.count("sec-fetch-site") <= 1
        else { return Self.refusal }
        switch head.value("sec-fetch-site")?.lowercased() {
        case "same-origin": break
        // The user's own doing, such as an address that is typed.
        case "none": guard isReading(head), head.count("origin") == 0 else { return Self.refusal }
        case nil: guard hasToken else { return Self.refusal }
        default: return Self.refusal
        }
        guard isReading(head) || head.count("origin") == 1 else { return Self.refusal }
        return isOwnOrigin(head) ? nil : Self.refusal
    }

    private func isReading(_ head: ClientHead) -> Bool { head.method == .get || head.method == .head }

    /// Whether the page that sends the request, if it is named, comes from the address that is asked.
    private func isOwnOrigin(_ head: ClientHead) -> Bool {
        guard let origin = head.value("origin") else { return true }
        guard let host = head.value("host"), let page = PageOrigin(origin) else { return false }
        return [PageOrigin("http://" + host), PageOrigin("https://" + host)].contains(page)
    }

    private static let refusal = "A page of another site must neither read nor change this server."
}
