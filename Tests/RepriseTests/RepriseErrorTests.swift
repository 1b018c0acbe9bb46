import Foundation
import Testing

@testable import Reprise

@Suite struct RepriseErrorTests {
    @Test func eachCodeHasANumberOfItsOwn() throws {
        let source = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../Sources/Reprise/RepriseError.swift"), encoding: .utf8)
        let names = source.components(separatedBy: "public static let ").dropFirst().map { rest in
            String(rest.prefix { $0.isLetter })
        }
        #expect(!names.isEmpty)
        #expect(RepriseError.Code.numbered.map(\.description).sorted() == names.sorted())
        #expect(RepriseError.Code.closed.number == 20, "numbers are a promise")
        #expect(RepriseError.Code("unknown").number == 0)
    }
}
