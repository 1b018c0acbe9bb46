import Foundation
import GRDB
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

    @Test(
        "what people read names neither codes nor SQL",
        arguments: [
            (
                DatabaseError(resultCode: .SQLITE_FULL, message: "database or disk is full", sql: "INSERT INTO entry")
                    as any Error,
                "No. (database or disk is full)"
            ),
            (SystemError(ENOSPC), "No. (\(String(cString: strerror(ENOSPC))))"),
            (RepriseError(.storageUnavailable, "The index cannot be written."), "No. (The index cannot be written.)"),
        ])
    func explanation(cause: any Error, expected: String) {
        #expect(RepriseError(.storageUnavailable, "No.", cause: cause).explanation == expected)
    }

    @Test func aFullDiskIsCalledFull() {
        let breaker = Breaker(clock: .system)
        breaker.open(because: RepriseError(.storageUnavailable, "No.", cause: SystemError(ENOSPC)))
        #expect(breaker.reason?.hasPrefix("The disk is full.") == true)
        breaker.open(because: RepriseError(.storageUnavailable, "No.", cause: SystemError(EIO)))
        #expect(breaker.reason == "The disk failed less than a minute ago: \(String(cString: strerror(EIO))).")
    }
}
