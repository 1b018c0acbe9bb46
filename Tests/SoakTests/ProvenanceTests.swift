import RepriseTesting
import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct ProvenanceTests {
    private let library = Library(count: 20, origins: 1, seed: 3)

    private func provenance(_ bytes: [UInt8]) -> String {
        bytes.withUnsafeBytes { Provenance(of: $0, in: library).description }
    }

    @Test("The file, the version and the offset of bytes are found, whatever their alignment", arguments: 0..<8)
    func place(alignment: Int64) throws {
        let file = try #require(library.files.first { $0.kind == .strong })
        file.change(length: 100_000, at: 1)
        let start = 4000 + alignment
        let bytes = TestPattern.bytes(in: start..<start + 100, seed: file.current(language: 0).seed)
        #expect(provenance(bytes) == "bytes of \(file.path) version 1 from \(start) on")
    }

    @Test("Zeros are called zeros, and foreign bytes are shown")
    func others() {
        #expect(provenance([UInt8](repeating: 0, count: 40)) == "zeros")
        #expect(provenance([UInt8](repeating: 7, count: 40)).hasPrefix("of no file, 0 zeros, beginning with 7 7"))
    }
}
