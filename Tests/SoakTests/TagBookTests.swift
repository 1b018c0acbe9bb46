import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct TagBookTests {
    @Test("A tag for a second version is found; a tag of another file or language is a different tag")
    func versions() {
        let book = TagBook()
        #expect(book.note(TagBook.Tag(text: "\"a\"", version: 1), file: 1, language: 0) == nil)
        #expect(book.note(TagBook.Tag(text: "\"a\"", version: 1), file: 1, language: 0) == nil)
        #expect(book.note(TagBook.Tag(text: "\"a\"", version: 2), file: 2, language: 0) == nil)
        #expect(book.note(TagBook.Tag(text: "\"a\"", version: 2), file: 1, language: 1) == nil)
        #expect(book.note(TagBook.Tag(text: "\"a\"", version: 2), file: 1, language: 0) == 1)
    }
}
