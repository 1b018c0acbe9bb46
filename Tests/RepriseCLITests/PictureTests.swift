import ByteRanges
import Testing

@testable import RepriseCLI

/// Pictures of progress and of stored bytes.
@Suite struct PictureTests {
    @Test(
        arguments: [
            (0, "    "), (-1, "    "), (1, "████"), (7, "████"), (0.5, "██  "), (0.25, "█   "), (1.0 / 32, "▏   "),
            (9.0 / 32, "█▏  "), (31.0 / 32, "███▉"), (0.999, "███▉"),
        ] as [(Double, String)])
    func progressFillsEighthsOfCells(fraction: Double, bar: String) {
        #expect(Bar.progress(fraction, width: 4) == bar)
    }

    @Test func progressIsAlwaysAsWideAsAsked() {
        for width in 0...30 {
            for step in 0...100 {
                #expect(Bar.progress(Double(step) / 100, width: width).count == width)
            }
        }
    }

    @Test(
        arguments: [
            ([], "····"), ([0..<100], "████"), ([0..<25], "█···"), ([99..<100], "···░"), ([0..<1], "░···"),
            ([1..<25], "▓···"), ([0..<12], "▒···"), ([0..<8], "░···"), ([20..<55], "░█░·"), ([0..<99], "███▓"),
        ] as [([Range<Int64>], String)])
    func cellsShowHowMuchOfThemIsStored(spans: [Range<Int64>], picture: String) {
        #expect(Bar.coverage(ByteRangeSet(spans), length: 100, width: 4) == picture)
    }

    /// Against one flag a byte.
    ///
    /// Where cells are narrower than a byte, several show the same byte.
    @Test func aCellIsEmptyOrFullOnlyIfAllItsBytesAre() {
        for length in 1...12 {
            for width in 1...15 {
                for bits in stride(from: 0, to: 1 << length, by: 7) {
                    let isStored = (0..<length).map { bits >> $0 & 1 == 1 }
                    let spans = (0..<Int64(length)).filter { isStored[Int($0)] }.map { $0..<$0 + 1 }
                    let picture = Array(Bar.coverage(ByteRangeSet(spans), length: Int64(length), width: width))
                    #expect(picture.count == width)
                    for (cell, symbol) in picture.enumerated() {
                        let lower = cell * length / width
                        let bytes = isStored[lower..<max((cell + 1) * length / width, lower + 1)]
                        #expect((symbol == "█") == bytes.allSatisfy { $0 }, "\(length) \(width) \(bits) \(cell)")
                        #expect((symbol == "·") == !bytes.contains(true), "\(length) \(width) \(bits) \(cell)")
                    }
                }
            }
        }
    }

    @Test func theLongestFileHasAPictureAndTheEmptyOneNone() {
        #expect(Bar.coverage(ByteRangeSet([0..<Int64.max]), length: .max, width: 3) == "███")
        #expect(Bar.coverage(ByteRangeSet(), length: 0, width: 3) == "")
        #expect(Bar.coverage(ByteRangeSet(), length: 5, width: 0) == "")
    }
}
