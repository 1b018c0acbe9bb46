/// A bar of which parts are filled, as an image of the page.
struct StoredBar: Sendable {
    /// A filled part.
    struct Part: Sendable {
        let range: Range<Int64>
        /// What its color stands for; empty for stored bytes.
        let className: String

        init(_ range: Range<Int64>, _ className: String = "") { (self.range, self.className) = (range, className) }
    }

    let parts: [Part]
    /// What the whole bar stands for; at least 1 is assumed.
    let length: Int64
    /// What it shows, for those who do not see it.
    let words: String

    /// Units of the image.
    private static let width = 1000.0
    /// The width of the narrowest part, so that it can be seen.
    private static let narrowest = 3.0

    init(parts: [Part], length: Int64, words: String) {
        (self.parts, self.length, self.words) = (parts, max(1, length), words)
    }

    /// The bar of a file of which `spans` are stored: first bytes and ends.
    init(spans: [[Int64]], length: Int64, words: String) {
        let parts = spans.compactMap { $0.count == 2 && $0[0] <= $0[1] ? Part($0[0]..<$0[1]) : nil }
        self.init(parts: parts, length: length, words: words)
    }

    /// Where the parts begin, and how wide they are.
    var rectangles: [(x: Double, width: Double, className: String)] {
        parts.map { part in
            let scale = Self.width / Double(length)
            let exact = Double(part.range.upperBound - part.range.lowerBound) * scale
            let width = part.range.isEmpty ? 0 : min(max(exact, Self.narrowest), Self.width)
            // A narrow part at the end keeps its width within the image.
            return (min(max(0, Double(part.range.lowerBound) * scale), Self.width - width), width, part.className)
        }
    }

    func write(to page: inout Markup, id: String? = nil, className: String = "bar") {
        page.tags("<svg viewBox=\"0 0 1000 8\" preserveAspectRatio=\"none\" role=\"img\"")
        if let id { page.attribute("id", id) }
        page.attribute("class", className)
        page.attribute("aria-label", words)
        page.tags(">")
        for rectangle in rectangles {
            page.tags("<rect height=\"8\"")
            page.attribute("x", Self.text(rectangle.x))
            page.attribute("width", Self.text(rectangle.width))
            if !rectangle.className.isEmpty { page.attribute("class", rectangle.className) }
            page.tags("/>")
        }
        page.tags("</svg>")
    }

    private static func text(_ number: Double) -> String { "\((number * 10).rounded() / 10)" }
}
