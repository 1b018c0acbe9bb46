import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct MarkupTests {
    @Test(
        "text stays text",
        arguments: [
            ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"), ("a & b", "a &amp; b"),
            ("\"><img src=x onerror='x'>", "&quot;&gt;&lt;img src=x onerror=&#39;x&#39;&gt;"),
            ("two\nlines\u{0}\u{1b}[2J", "two lines  [2J"), ("Ærø 日本", "Ærø 日本"), ("&lt;", "&amp;lt;"),
        ]) func text(text: String, html: String)
    {
        var page = Markup()
        page.text(text)
        #expect(page.html == html)
        var element = Markup()
        element.tags("<a")
        element.attribute("href", text)
        element.element(">", text, "</a>")
        #expect(element.html == "<a href=\"\(html)\">\(html)</a>")
    }
}
