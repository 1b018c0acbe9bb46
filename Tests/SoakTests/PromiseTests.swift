import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct PromiseTests {
    private let file = MediaFile(number: 1, kind: .strong, origin: 0, length: 1000, seed: 5)

    private func ask(_ wanted: Ask.Wanted, _ condition: Ask.Condition = .none, version: Int = 0) -> Ask {
        Ask(file: file, wanted: wanted, condition: condition, tag: TagBook.Tag(text: "\"t\"", version: version))
    }

    /// The versions that an answer may have; `nil` if it promises no bytes, and `[]` if it is wrong.
    private func versions(_ head: String, _ ask: Ask) -> [Int]? {
        switch Promise(MessageReader.Head(head), to: ask, representations: file.representations(language: 0)) {
        case .bytes(_, let candidates), .parts(_, let candidates): candidates.map(\.version)
        case .nothing, .failure: nil
        case .wrong: []
        }
    }

    init() { file.change(length: 1200, at: 1) }

    @Test("A 206 belongs to the versions that its Content-Range matches")
    func partial() {
        let head = "HTTP/1.1 206 -\r\nContent-Range: bytes 10-19/1200"
        #expect(versions(head, ask(.bounded(10..<20))) == [1])
        #expect(versions("HTTP/1.1 206 -\r\nContent-Range: bytes 900-999/1000", ask(.bounded(900..<1100))) == [0])
        #expect(versions("HTTP/1.1 206 -\r\nContent-Range: bytes 1190-1199/1200", ask(.suffix(10))) == [1])
    }

    @Test(
        "A 206 without Content-Range, for another range, of another length or without a Range is wrong (RFC 9110 §15.3.7)"
    )
    func wrongPartial() {
        #expect(versions("HTTP/1.1 206 -", ask(.bounded(10..<20))) == [])
        #expect(versions("HTTP/1.1 206 -\r\nContent-Range: bytes 11-20/1200", ask(.bounded(10..<20))) == [])
        #expect(versions("HTTP/1.1 206 -\r\nContent-Range: bytes 10-19/1100", ask(.bounded(10..<20))) == [])
        #expect(versions("HTTP/1.1 206 -\r\nContent-Range: bytes 0-1199/1200", ask(.all)) == [])
        let short = "HTTP/1.1 206 -\r\nContent-Range: bytes 10-19/1200\r\nContent-Length: 9"
        #expect(versions(short, ask(.bounded(10..<20))) == [])
    }

    @Test("A 206 under If-Range belongs to the version named by the tag (RFC 9110 §13.1.5)")
    func ifRange() {
        let head = "HTTP/1.1 206 -\r\nContent-Range: bytes 10-19/1200"
        #expect(versions(head, ask(.bounded(10..<20), .ifRange, version: 1)) == [1])
        #expect(versions(head, ask(.bounded(10..<20), .ifRange, version: 0)) == [])
    }

    @Test("A whole answer has the length of a version")
    func whole() {
        #expect(versions("HTTP/1.1 200 -\r\nContent-Length: 1000", ask(.all)) == [0])
        #expect(versions("HTTP/1.1 200 -\r\nTransfer-Encoding: chunked", ask(.from(5))) == [0, 1])
        #expect(versions("HTTP/1.1 200 -\r\nContent-Length: 999", ask(.all)) == [])
    }

    @Test("304 and 412 answer conditions only, 416 ranges that a version does not have, 404 what does not exist")
    func withoutBytes() {
        #expect(versions("HTTP/1.1 304 -", ask(.all, .ifNoneMatch)) == nil)
        #expect(versions("HTTP/1.1 304 -", ask(.all)) == [])
        #expect(versions("HTTP/1.1 412 -", ask(.all, .ifMatch)) == nil)
        #expect(versions("HTTP/1.1 412 -", ask(.all, .ifRange)) == [])
        #expect(versions("HTTP/1.1 416 -", ask(.from(1100))) == nil)
        #expect(versions("HTTP/1.1 416 -", ask(.beyond)) == nil)
        #expect(versions("HTTP/1.1 416 -", ask(.from(900))) == [])
        #expect(versions("HTTP/1.1 404 -", Ask(file: nil)) == nil)
        #expect(versions("HTTP/1.1 404 -", ask(.all)) == [])
        #expect(versions("HTTP/1.1 502 -", ask(.all)) == nil)
    }
}
