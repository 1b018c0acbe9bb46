import ByteRanges
import TestLimits
import Testing

/// The worked byte-cache vectors of the Rangeable RFC, USECASES §8, whose closed ranges are here half-open.
@Suite("Rangeable RFC §1.3.1, byte cache", .limit(minutes: 1))
struct ReferenceVectorTests {
    static let stored: ByteRangeSet = [0..<101, 200..<501]

    struct Request: Sendable {
        let range: Range<Int64>
        let disk: Range<Int64>
        let net: Range<Int64>
    }

    @Test(
        "A request is split into what is on disk and what must be fetched",
        arguments: [
            Request(range: 150..<301, disk: 200..<301, net: 150..<200),
            Request(range: 50..<151, disk: 50..<101, net: 101..<151),
            Request(range: 300..<601, disk: 300..<501, net: 501..<601),
        ])
    func requestIsSplit(request: Request) {
        #expect(Self.stored.spans(in: request.range) == [request.disk])
        #expect(Self.stored.holes(in: request.range) == [request.net])
        #expect(Self.stored.firstHole(in: request.range) == request.net)
    }

    @Test("Filling the hole exactly leaves one span: insert [101,199] gives [0,500]")
    func fillingTheHoleJoins() {
        var set = Self.stored
        set.insert(101..<200)
        #expect(Array(set) == [0..<501])
    }

    @Test("Eviction cuts a span in two: remove [300,400] gives [0,100], [200,299], [401,500]")
    func evictionCuts() {
        var set = Self.stored
        set.remove(300..<401)
        #expect(Array(set) == [0..<101, 200..<300, 401..<501])
    }

    @Test("Adjacency: [2,4] and [5,7] make [2,7]; [2,4] and [6,7] stay apart")
    func adjacency() {
        #expect(Array(ByteRangeSet([2..<5, 5..<8])) == [2..<8])
        #expect(Array(ByteRangeSet([2..<5, 6..<8])) == [2..<5, 6..<8])
    }

    @Test("The README's read: asked 0 to 1000, stored 200 to 500 and 700 to 800")
    func workedReadHasThreeHoles() {
        let set: ByteRangeSet = [200..<500, 700..<800]
        #expect(set.holes(in: 0..<1000) == [0..<200, 500..<700, 800..<1000])
    }
}
