import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct StoredBarTests {
    @Test("parts stand where their bytes are, none is too narrow to be seen") func rectangles() {
        let bar = StoredBar(spans: [[0, 250], [500, 501], [1000, 1000]], length: 1000, words: "x")
        #expect(bar.rectangles.map(\.x) == [0, 500, 1000])
        #expect(bar.rectangles.map(\.width) == [250, 3, 0])
    }

    @Test("a few bytes at the end, as the index of a film that has it there, are within the image") func lastBytes() {
        let bar = StoredBar(spans: [[0, 500], [99_999, 100_000]], length: 100_000, words: "x")
        #expect(bar.rectangles.map(\.x) == [0, 997])
        #expect(bar.rectangles.map(\.width) == [5, 3])
    }

    @Test("what cannot be, such as bytes behind the end, stays within the image") func oddSpans() {
        let bar = StoredBar(
            spans: [[0, .max], [5, 1], [], [.max - 1, .max]], length: 0, words: "x")
        #expect(bar.rectangles.count == 2)
        for rectangle in bar.rectangles { #expect(rectangle.x >= 0 && rectangle.x + rectangle.width <= 1000) }
    }

    @Test func itSaysWhatItShows() {
        var page = Markup()
        StoredBar(spans: [[0, 1]], length: 2, words: "half \"<b>\"").write(to: &page)
        #expect(page.html.contains("role=\"img\""))
        #expect(page.html.contains("aria-label=\"half &quot;&lt;b&gt;&quot;\""))
        #expect(page.html.contains("<rect height=\"8\" x=\"0.0\" width=\"500.0\"/>"))
    }
}
