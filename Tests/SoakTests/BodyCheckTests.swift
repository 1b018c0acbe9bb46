import RepriseTesting
import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct BodyCheckTests {
    private let file = MediaFile(number: 3, kind: .varying, origin: 0, length: 100_000, seed: 9)

    private func bytes(_ range: Range<Int64>, version: Int, language: Int = 0) -> [UInt8] {
        TestPattern.bytes(in: range, seed: file.representations(language: language)[version].seed)
    }

    /// The check after these pieces of the file in English, from offset 10 on.
    private func check(_ pieces: [[UInt8]]) -> BodyCheck {
        var check = BodyCheck(from: 10, candidates: file.representations(language: 0))
        for piece in pieces { piece.withUnsafeBytes { check.take($0) } }
        return check
    }

    init() {
        file.change(length: 100_000, at: 1)
        file.change(length: 99_000, at: 2)
    }

    @Test("Bytes of one version match it, however they are split", arguments: 0...2)
    func whole(version: Int) {
        let check = check([
            bytes(10..<11, version: version), bytes(11..<40_000, version: version),
            bytes(40_000..<99_000, version: version),
        ])
        #expect(check.wrongBytes == 0)
        #expect(check.version == version)
        #expect(check.position == 99_000)
    }

    @Test("Two versions in one response are wrong")
    func mix() {
        #expect(check([bytes(10..<500, version: 0), bytes(500..<600, version: 1)]).wrongBytes > 90)
        #expect(check([bytes(10..<500, version: 0) + bytes(500..<600, version: 1)]).wrongBytes > 90)
    }

    @Test("One wrong byte is one")
    func flippedBit() {
        var bytes = bytes(10..<60_000, version: 1)
        bytes[40_000] ^= 1
        #expect(check([bytes]).wrongBytes == 1)
    }

    @Test("Another language, other offsets and zeros are wrong")
    func foreign() {
        #expect(check([bytes(10..<600, version: 0, language: 1)]).wrongBytes > 500)
        #expect(check([bytes(11..<601, version: 0)]).wrongBytes > 500)
        #expect(check([[UInt8](repeating: 0, count: 590)]).wrongBytes > 500)
    }

    @Test("Bytes behind the end are wrong")
    func end() {
        #expect(check([bytes(10..<99_000, version: 2), bytes(99_000..<99_001, version: 2)]).wrongBytes == 1)
    }

    @Test("Parts of one version in order are right; another version, order or range is not")
    func parts() {
        func problem(_ versions: [Int], _ sent: [Range<Int64>]) -> String? {
            var body: [UInt8] = []
            for (version, range) in zip(versions, sent) {
                let length = file.representations(language: 0)[version].length
                let field = "Content-Range: bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
                body += Array("\r\n--xyz\r\nContent-Type: video/mp4\r\n\(field)\r\n\r\n".utf8)
                body += bytes(range, version: version)
            }
            body += Array("\r\n--xyz--\r\n".utf8)
            var ask = Ask(file: file)
            ask.wanted = .several([10..<400, 5000..<9000])
            return PartsCheck(body, boundary: "xyz", of: file.representations(language: 0), to: ask).problem
        }
        #expect(problem([1, 1], [10..<400, 5000..<9000]) == nil)
        #expect(problem([0, 1], [10..<400, 5000..<9000]) != nil)
        #expect(problem([1, 1], [5000..<9000, 10..<400]) != nil)
        #expect(problem([1, 1], [10..<400, 5000..<8999]) != nil)
        #expect(problem([1], [10..<400]) != nil)
    }
}
