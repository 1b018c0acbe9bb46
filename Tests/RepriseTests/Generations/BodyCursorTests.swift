import HTTPSemantics
import Testing

@testable import Reprise

/// Where the bytes of a body belong, and which are surplus.
@Suite struct BodyCursorTests {
    @Test func piecesLieBehindEachOther() throws {
        var cursor = BodyCursor(start: 100, end: 110)
        #expect(try cursor.advance(by: 4) == 100..<104)
        #expect(cursor.isShort)
        #expect(try cursor.advance(by: 6) == 104..<110)
        #expect(!cursor.isShort)
        #expect(!cursor.hasSurplus)
    }

    @Test func surplusHasNoPlace() throws {
        var cursor = BodyCursor(start: 100, end: 110)
        #expect(try cursor.advance(by: 15) == 100..<110)
        #expect(cursor.hasSurplus)
        #expect(try cursor.advance(by: 3) == 110..<110)
        #expect(try cursor.advance(by: .max) == 110..<110)
        #expect(cursor.position == 110)
    }

    @Test func aDeclaredBodyMayReachTheLimitAndItsSurplusOverflowsNothing() throws {
        var cursor = BodyCursor(start: .largestPosition - 10, end: .largestPosition)
        #expect(try cursor.advance(by: .max) == .largestPosition - 10 ..< .largestPosition)
        #expect(cursor.hasSurplus)
    }

    @Test func aBodyOfUndeclaredLengthThatGoesBeyondTheLimitIsAnError() throws {
        var cursor = BodyCursor(start: 0, end: nil)
        #expect(try cursor.advance(by: Int(Int64.largestPosition)) == 0 ..< .largestPosition)
        #expect(!cursor.isShort)
        var other = cursor
        let error = #expect(throws: RepriseError.self) { try other.advance(by: 1) }
        #expect(error?.code == .originMisbehaved)
        other = BodyCursor(start: 1, end: nil)
        #expect(throws: RepriseError.self) { try other.advance(by: .max) }
    }
}
