import HTTPSemantics
import TestLimits
import Testing

@testable import RepriseTesting

/// The origin reads and writes HTTP with its own code; these tests compare it with the library's.
@Suite(.limit(minutes: 1))
struct SecondReadingTests {
    @Test("Both readings of Range agree on generated fields (RFC 9110 §14.2)")
    func ranges() {
        var generator = SeededGenerator(seed: 1)
        let pieces = ["0", "7", "10", "99", "100", "101", "9223372036854775807", "99999999999999999999", "-", "-", "x"]
        for _ in 0..<5000 {
            let count = Int.random(in: 0...4, using: &generator)
            let field = "bytes=" + (0..<count).map { _ in pieces.randomElement(using: &generator) ?? "" }.joined()
            let ours = RangeHeader(field)
            let theirs = RangeField(field)?.single
            #expect((ours == nil) == (theirs == nil), "\(field)")
            for length in [0, 1, 100, 1 << 53] as [Int64] {
                let mine = ours?.resolve(length: length)
                #expect(mine == theirs?.resolve(completeLength: length), "\(field) of \(length)")
            }
        }
    }

    @Test("The library's strict parsers accept the head of an honest response")
    func head() async throws {
        try await withClient { _, client in
            let response = try await client.fetch("/a", ["Range: bytes=10-19"])
            let range = try #require(response["Content-Range"].flatMap { ContentRange($0) })
            #expect(range.description == "bytes 10-19/1000")
            #expect(response["ETag"].flatMap { EntityTag($0) } != nil)
            for name in ["Date", "Last-Modified"] {
                let value = try #require(response[name])
                #expect(HTTPDate(value)?.description == value)
            }
        }
    }

    @Test("Both ways to write a date agree (RFC 9110 §5.6.7)")
    func dates() {
        var generator = SeededGenerator(seed: 2)
        #expect(IMFFixdate(secondsSince1970: 784_111_777).description == "Sun, 06 Nov 1994 08:49:37 GMT")
        for _ in 0..<200 {
            let seconds = Int.random(in: 0..<8_000_000_000, using: &generator)
            let written = IMFFixdate(secondsSince1970: seconds).description
            #expect(HTTPDate(written)?.description == written)
            #expect(IMFFixdate(written) == IMFFixdate(secondsSince1970: seconds))
        }
    }
}
