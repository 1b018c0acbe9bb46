import Foundation
import RepriseTesting
import TestLimits
import Testing

@testable import Reprise

/// Folders that appear when they are whole, and what they never take the place of.
@Suite(.limit(minutes: 1)) struct OutputFolderTests {
    private let place: TemporaryDirectory
    private var path: String { place.path(of: "out") }

    init() throws { place = try TemporaryDirectory() }

    private func write(_ text: String, replacing: Bool = false, at path: String? = nil) throws {
        let folder = try OutputFolder(path: path ?? self.path, existing: replacing ? .replaced : .kept)
        try folder.write("a/file", text: Array(text.utf8))
        try folder.finish()
    }

    private func text() -> String? {
        FileManager.default.contents(atPath: path + "/a/file").map { String(decoding: $0, as: UTF8.self) }
    }

    private func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: place.path).sorted() }

    /// Runs `work`, which has to fail; returns how.
    private func failure(_ work: () throws -> Void) -> OutputFile.Failure.Reason? {
        do {
            try work()
            return nil
        } catch { return (error as? OutputFile.Failure)?.reason }
    }

    @Test func aFileHasItsLengthWithZerosInItsHoles() throws {
        let folder = try OutputFolder(path: path, existing: .kept)
        try folder.write("file", length: 10) { put in
            try put(6, [7, 8])
            try put(1, [1, 2])
        }
        #expect(try names().allSatisfy { $0.hasPrefix(".reprise-") }, "nothing appears before it is whole")
        try folder.finish()
        #expect(FileManager.default.contents(atPath: path + "/file") == Data([0, 1, 2, 0, 0, 0, 7, 8, 0, 0]))
        #expect(try names() == ["out"])
    }

    @Test func anUnfinishedFolderLeavesNothingBehindAndTakesNothingMore() throws {
        let folder = try OutputFolder(path: path, existing: .kept)
        try folder.write("a/file", text: [1])
        folder.discard()
        #expect(failure { try folder.write("b/file", text: [2]) } == .cannotWrite)
        #expect(failure { try folder.finish() } == .cannotWrite)
        #expect(try names() == [])
        do { _ = try OutputFolder(path: path, existing: .kept) }
        #expect(try names() == [], "released without an end")
    }

    @Test func whatAppearsInTheMeantimeStays() throws {
        let folder = try OutputFolder(path: path, existing: .replaced)
        try folder.write("a/file", text: [1])
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        try place.write([9], to: "out/mine")
        #expect(failure { try folder.finish() } == .cannotCreate)
        folder.discard()
        #expect(try names() == ["out"])
        #expect(FileManager.default.contents(atPath: path + "/mine") == Data([9]))
    }

    @Test func anOlderExportIsReplacedOnDemand() throws {
        try write("old")
        #expect(failure { try write("new") } == .exists)
        try place.write([0], to: "out/.DS_Store")
        try write("new", replacing: true)
        #expect(text() == "new")
        #expect(try names() == ["out"])
    }

    @Test(
        "a mark that others wrote, or that names more than is there, hides no file of the user's",
        arguments: ["", "a/other", "../../etc/passwd", "/etc/passwd"])
    func marks(line: String) throws {
        try write("old")
        let mark = path + "/.reprise-export"
        let text = try String(contentsOfFile: mark, encoding: .utf8)
        try (line.isEmpty ? "" : text + line + "\n").write(toFile: mark, atomically: false, encoding: .utf8)
        try place.write([9], to: "out/mine")
        #expect(failure { try write("new", replacing: true) } == .cannotCreate)
        #expect(self.text() == "old" && FileManager.default.fileExists(atPath: path + "/mine"))
    }

    @Test func linksAreFollowedAndNeverReplaced() throws {
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: "target")
        try write("one")
        try write("two", replacing: true)
        #expect(try FileManager.default.destinationOfSymbolicLink(atPath: path) == "target")
        #expect(text() == "two")
        // A folder of the export that has become a link to a place of the user's.
        try FileManager.default.createDirectory(atPath: place.path(of: "mine"), withIntermediateDirectories: false)
        try FileManager.default.removeItem(atPath: path + "/a")
        try FileManager.default.createSymbolicLink(atPath: path + "/a", withDestinationPath: "../mine")
        #expect(failure { try write("three", replacing: true) } == .cannotCreate)
    }

    @Test(arguments: [".", "..", "/", "x/.."]) func placesThatAreNoNamesAreRefused(name: String) {
        #expect(failure { _ = try OutputFolder(path: name, existing: .replaced) } == .cannotCreate)
    }
}
