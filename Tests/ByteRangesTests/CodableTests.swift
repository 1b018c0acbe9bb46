import ByteRanges
import Foundation
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct CodableTests {
    @Test func spansAreWrittenAsPairs() throws {
        let set: ByteRangeSet = [0..<100, 200..<500]
        let json = String(decoding: try JSONEncoder().encode(set), as: UTF8.self)
        #expect(json == "[[0,100],[200,500]]")
        #expect(String(decoding: try JSONEncoder().encode(ByteRangeSet()), as: UTF8.self) == "[]")
    }

    @Test(arguments: [
        ByteRangeSet(), [0..<1], [Int64.min..<Int64.max], [Int64.min..<(-1), 0..<5, 7..<Int64.max],
        ByteRangeSet((0..<3_000).map { Int64($0) * 7..<Int64($0) * 7 + 3 }),
    ])
    func roundTripGivesTheSameSet(set: ByteRangeSet) throws {
        let decoded = try JSONDecoder().decode(ByteRangeSet.self, from: try JSONEncoder().encode(set))
        try decoded.checkInvariants()
        #expect(decoded == set)
    }

    @Test(
        "Hostile input is refused with a decoding error",
        arguments: [
            "[[5,3]]", "[[5,5]]", "[[0,5],[3,9]]", "[[0,5],[0,5]]", "[[0,5],[5,9]]", "[[10,20],[0,5]]", "[[0]]", "[[]]",
            "[[0,5,9]]", "[0,5]", "[[0,5],7]", "[[0,\"5\"]]", "[[0,null]]", "[null]", "[[0.5,2]]", "{}", "7", "[[0,5]",
            "[[0,9223372036854775808]]", "[[-9223372036854775809,0]]", "[[9223372036854775807,-9223372036854775808]]",
        ])
    func hostileInputIsRefused(json: String) {
        #expect(throws: DecodingError.self) {
            try JSONDecoder().decode(ByteRangeSet.self, from: Data(json.utf8))
        }
    }
}
