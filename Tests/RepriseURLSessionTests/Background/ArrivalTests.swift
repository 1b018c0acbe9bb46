import Foundation
import HTTPTypes
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("What has come in the background", .limit(minutes: 1))
struct ArrivalTests {
    private func ask(_ hole: Range<Int64>? = nil, _ validator: String? = nil, entry: String = "e") -> TransferAsk {
        TransferAsk(title: "t", entry: entry, hole: hole, validator: validator)
    }

    private func arrival(
        _ verdict: TransferVerdict, asked: Range<Int64>?, validator: String?, length: Int64, _ fields: HTTPFields,
        status: Int = 206
    ) throws -> Arrival {
        Arrival(
            TransferRecord(for: ask(asked, validator), range: asked, begun: 1_700_000_000), verdict,
            HTTPResponse(status: .init(code: status), headerFields: fields),
            from: try ResourceURL("https://media.example/film.mp4"), length: length)
    }

    @Test func aPartAnswersFromWhereverItIsAsked() throws {
        let part = try arrival(
            .part(100..<200, completeLength: 500), asked: 100..<200, validator: "\"v1\"", length: 100,
            [.eTag: "\"v1\"", .contentRange: "bytes 100-199/500", .contentLength: "100"])
        let answer = try #require(part.answer(to: ask(150..<500, "\"v1\"")))
        #expect(answer.part == 50..<100)
        #expect(answer.head.headerFields[.contentRange] == "bytes 150-199/500")
        #expect(answer.head.headerFields[.contentLength] == "50")
        let short = try #require(part.answer(to: ask(110..<120, "\"v1\"")))
        #expect(short.head.headerFields[.contentRange] == "bytes 110-119/500")
        for other in [ask(), ask(200..<500, "\"v1\""), ask(150..<500, "\"v2\""), ask(150..<500, "\"v1\"", entry: "x")] {
            #expect(part.answer(to: other) == nil)
        }
    }

    @Test func aWholeAnswersForItsPartsAndShowsAChange() throws {
        let whole = try arrival(
            .whole(length: 300), asked: 100..<200, validator: "\"v1\"", length: 300, [.eTag: "\"v2\""], status: 200)
        #expect(try #require(whole.answer(to: ask())).head.status == .ok)
        // Of the new file.
        let part = try #require(whole.answer(to: ask(250..<300, "\"v2\"")))
        #expect(part.head.status == .partialContent)
        #expect(part.part == 250..<300)
        // Of the old one: the answer is that it has changed.
        #expect(try #require(whole.answer(to: ask(100..<200, "\"v1\""))).head.status == .ok)
        #expect(whole.showsChange(to: ask(100..<200, "\"v1\"")))
        #expect(whole.answer(to: ask(100..<200, "\"v0\"")) == nil)
    }

    @Test func ofAWholeTheLengthIsKnownHoweverItWasSent() throws {
        let whole = try arrival(
            .whole(length: 300), asked: nil, validator: nil, length: 300,
            [.transferEncoding: "chunked", .setCookie: "session=1"], status: 200)
        let head = try #require(whole.answer(to: ask())).head
        #expect(head.headerFields[.contentLength] == "300")
        #expect(head.headerFields[.transferEncoding] == nil && head.headerFields[.setCookie] == nil)
    }

    @Test func anAnswerWithoutADateIsAsOldAsItsTransfer() throws {
        let part = try arrival(
            .part(0..<9, completeLength: 9), asked: 0..<9, validator: "\"v1\"", length: 9, [.eTag: "\"v1\""])
        #expect(part.head.headerFields[.date] == "Tue, 14 Nov 2023 22:13:20 GMT")
    }

    @Test func theFolderKeepsWholeArrivalsOnly() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let root = URL(fileURLWithPath: directory.path)
        let path = root.appendingPathComponent("arrivals")
        let folder = ArrivalFolder(path)
        func add(_ bytes: Int) throws -> Arrival {
            let file = root.appendingPathComponent("temporary")
            try Data(count: 9).write(to: file)
            let arrival = try arrival(
                .part(0..<9, completeLength: 9), asked: 0..<9, validator: "\"v1\"", length: Int64(bytes),
                [.eTag: "\"v1\""])
            try folder.add(arrival, from: file)
            #expect(!FileManager.default.fileExists(atPath: file.path))
            return arrival
        }
        let kept = try add(9)
        // Cut off by the file system, without a head, and without a body.
        _ = try add(10)
        // Cannot be read now: it stays.
        let locked = try add(9).record
        let head = folder.body(of: locked).deletingPathExtension().appendingPathExtension("json")
        let text = try Data(contentsOf: head)
        try FileManager.default.removeItem(at: head)
        try FileManager.default.createDirectory(at: head, withIntermediateDirectories: false)
        try FileManager.default.removeItem(
            at: folder.body(of: try add(9).record).deletingPathExtension().appendingPathExtension("json"))
        try FileManager.default.removeItem(at: folder.body(of: try add(9).record))
        #expect(ArrivalFolder(path).arrivals().arrivals.map(\.record) == [kept.record])
        try FileManager.default.removeItem(at: head)
        try text.write(to: head)
        #expect(Set(ArrivalFolder(path).arrivals().arrivals.map(\.record)) == [kept.record, locked])
        folder.remove(locked)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path.path).count == 2)
        folder.remove(kept.record)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path.path).isEmpty)
    }

    @Test func whatCannotBeKeptLeavesNothing() throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let path = URL(fileURLWithPath: directory.path).appendingPathComponent("arrivals")
        let folder = ArrivalFolder(path)
        let arrival = try arrival(
            .part(0..<9, completeLength: 9), asked: 0..<9, validator: "\"v1\"", length: 9, [.eTag: "\"v1\""])
        let error = #expect(throws: RepriseError.self) {
            try folder.add(arrival, from: path.appendingPathComponent("none"))
        }
        #expect(error?.code == .storageUnavailable)
        #expect(try FileManager.default.contentsOfDirectory(atPath: path.path).isEmpty)
    }

    @Test(
        "a full disk, as the system says it",
        arguments: [
            URLError(.cannotWriteToFile), URLError(.cannotCreateFile), CocoaError(.fileWriteOutOfSpace),
            NSError(
                domain: NSCocoaErrorDomain, code: 4,
                userInfo: [NSUnderlyingErrorKey: NSError(domain: NSPOSIXErrorDomain, code: Int(ENOSPC))]),
        ] as [any Error])
    func aFullDiskIsRecognized(error: any Error) {
        #expect(Failures.keeping(error).code == .storageFull)
    }

    @Test func aRecordIsReadBackAndTellsNoSecret() throws {
        let record = TransferRecord(for: ask(5..<9, "\"v1\""), range: 5..<9, begun: 7)
        #expect(TransferRecord(description: record.description) == record)
        for text in [nil, "", "{}", "another library's"] { #expect(TransferRecord(description: text) == nil) }
    }
}
