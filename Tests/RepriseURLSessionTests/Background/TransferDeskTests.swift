import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite("Requests that wait for transfers in the background", .limit(minutes: 1))
struct TransferDeskTests {
    private let directory: TemporaryDirectory
    private let session = SilentSession()
    private let desk: TransferDesk
    private let url = URL(string: "https://media.example/film.mp4")

    init() throws {
        directory = try TemporaryDirectory()
        desk = TransferDesk(folder: URL(fileURLWithPath: directory.path).appendingPathComponent("arrivals"))
        desk.attach(session)
    }

    private func request(
        _ hole: Range<Int64>, errand: BackgroundErrand = BackgroundErrand(title: "t", entry: "e")
    ) throws -> OriginRequest {
        var request = OriginRequest(url: try ResourceURL("https://media.example/film.mp4"))
        request.fields[.range] = "bytes=\(hole.lowerBound)-\(hole.upperBound - 1)"
        request.fields[.ifRange] = "\"v1\""
        request.context.errand = errand
        request.context.errand?.hole = hole
        request.context.interest = RequestInterest(.download)
        return request
    }

    /// Asks in a task of its own; `made` is called after the request was made for the system.
    private func ask(
        _ request: OriginRequest, made: @escaping @Sendable () -> Void = {}
    ) -> Task<RepriseError?, any Error> {
        Task { [desk] in
            do {
                _ = try await desk.answer(request, over: TransferNetworks(.any)) { request throws(RepriseError) in
                    defer { made() }
                    return try URLRequest.make(request, userAgent: nil)
                }
                return nil
            } catch let error as RepriseError {
                return error
            }
        }
    }

    /// The error with which a request ends; the time limit of the test ends it too.
    private func failure(of asked: Task<RepriseError?, any Error>) async throws -> RepriseError? {
        try await withTaskCancellationHandler {
            try await asked.value
        } onCancel: {
            asked.cancel()
        }
    }

    /// The system says that a transfer has ended without a response.
    private func end(_ record: TransferRecord, _ code: URLError.Code, asked: URL?) {
        desk.ended(record.description, asked: asked, error: URLError(code))
    }

    @Test("a transfer that ends while another request looks what is missing is begun again")
    func noRequestWaitsForATransferThatHasEnded() async throws {
        defer { directory.remove() }
        let first = ask(try request(0..<100))
        await eventually { session.ranges.count >= 1 }
        let running = try #require(session.records.first)
        // It waits for the same first byte, and would begin only what lies behind.
        let second = ask(try request(0..<200)) { [desk, url] in
            desk.ended(running.description, asked: url, error: URLError(.networkConnectionLost))
        }
        let error = try await failure(of: first)
        #expect(error?.code == .originUnreachable)
        await eventually { session.ranges.count >= 2 }
        #expect(session.ranges == [0..<100, 0..<200])
        second.cancel()
        await #expect(throws: CancellationError.self) { try await failure(of: second) }
    }

    @Test("what came before the device was unlocked for the first time answers once it can be read")
    func whatCouldNotBeReadIsReadLater() async throws {
        defer { directory.remove() }
        let asked = ask(try request(0..<100))
        await eventually { session.records.count >= 1 }
        let record = try #require(session.records.first)
        let body = URL(fileURLWithPath: directory.path).appendingPathComponent("body")
        try Data(repeating: 7, count: 100).write(to: body)
        let url = try #require(url)
        let response = HTTPURLResponse(
            url: url, statusCode: 206, httpVersion: nil,
            headerFields: ["Content-Range": "bytes 0-99/100", "ETag": "\"v1\"", "Content-Length": "100"])
        desk.arrived(record.description, response: response, asked: url, file: body)
        #expect(try await failure(of: asked) == nil)
        let folder = URL(fileURLWithPath: directory.path).appendingPathComponent("arrivals")
        let head = folder.appendingPathComponent(record.id.uuidString).appendingPathExtension("json")
        let hidden = URL(fileURLWithPath: directory.path).appendingPathComponent("hidden")
        for isUnlockedAtLaunch in [true, false] {
            if !isUnlockedAtLaunch {
                // What stands in its place cannot be read.
                try FileManager.default.moveItem(at: head, to: hidden)
                try FileManager.default.createDirectory(at: head, withIntermediateDirectories: false)
            }
            let (next, silent) = (TransferDesk(folder: folder), SilentSession())
            next.attach(silent)
            // The process was killed before the system knew that it has the file.
            try Data(repeating: 8, count: 100).write(to: body)
            next.arrived(record.description, response: response, asked: url, file: body)
            next.ended(record.description, asked: url, error: nil)
            if !isUnlockedAtLaunch {
                try FileManager.default.removeItem(at: head)
                try FileManager.default.moveItem(at: hidden, to: head)
            }
            next.keepTransfers(running: ["t"], titles: ["t"])
            let answer = try await next.answer(
                try request(0..<100), over: TransferNetworks(.any)
            ) { request throws(RepriseError) in
                try URLRequest.make(request, userAgent: nil)
            }
            #expect(answer?.head.status == .partialContent)
            let stored = try Data(contentsOf: folder.appendingPathComponent(record.id.uuidString + ".body"))
            #expect(stored == Data(repeating: 7, count: 100))
            #expect(silent.records.isEmpty)
        }
    }

    @Test func aRunThatIsOverBeginsNothing() async throws {
        defer { directory.remove() }
        let errand = BackgroundErrand(title: "t", entry: "e")
        errand.end()
        let asked = ask(try request(0..<100, errand: errand))
        await #expect(throws: CancellationError.self) { try await failure(of: asked) }
        #expect(session.ranges.isEmpty)
    }

    @Test func aRunThatEndsWhileItsRequestIsMadeBeginsNothing() async throws {
        defer { directory.remove() }
        let errand = BackgroundErrand(title: "t", entry: "e")
        // The title is removed at this moment, and nothing ends its transfers later.
        let asked = ask(try request(0..<100, errand: errand)) { [desk] in
            errand.end()
            desk.forgetTransfers(of: "t")
        }
        await #expect(throws: CancellationError.self) { try await failure(of: asked) }
        #expect(session.ranges.isEmpty)
    }

    @Test("a request over networks that its title may not use any more begins nothing", arguments: [false, true])
    func anotherPolicyLetsAnOldRunBeginNothing(isMade: Bool) async throws {
        defer { directory.remove() }
        let (desk, networks) = (desk, TransferNetworks(.inexpensive))
        // The download has another policy at this moment, and its run is canceled a little later.
        if !isMade { desk.endTransfers(of: "t", notOver: networks) }
        let asked = ask(try request(0..<100)) { if isMade { desk.endTransfers(of: "t", notOver: networks) } }
        await #expect(throws: CancellationError.self) { try await failure(of: asked) }
        #expect(session.ranges.isEmpty)
    }

    @Test func aPauseEndsTheWait() async throws {
        defer { directory.remove() }
        let asked = ask(try request(0..<100))
        await eventually { session.ranges.count >= 1 }
        desk.pauseTransfers(of: "t")
        await #expect(throws: CancellationError.self) { try await failure(of: asked) }
        #expect(session.canceled == [1])
    }

    @Test("a transfer of which the system does not know the URL any more fails, and its request does not wait for ever")
    func aTransferWithoutAURLHasFailed() async throws {
        defer { directory.remove() }
        let asked = ask(try request(0..<100))
        await eventually { session.ranges.count >= 1 }
        end(try #require(session.records.first), .unknown, asked: nil)
        let error = try await failure(of: asked)
        #expect(error?.code == .originUnreachable)
    }

    @Test("a transfer that ends without an error and without a response has failed")
    func anEndWithoutAResponseIsAFailure() async throws {
        defer { directory.remove() }
        let asked = ask(try request(0..<100))
        await eventually { session.ranges.count >= 1 }
        desk.ended(try #require(session.records.first).description, asked: url, error: nil)
        let error = try await failure(of: asked)
        #expect(error?.code == .originBodyTruncated)
    }

    @Test func aFullDiskIsWaitedFor() async throws {
        defer { directory.remove() }
        let asked = ask(try request(0..<100))
        await eventually { session.ranges.count >= 1 }
        end(try #require(session.records.first), .cannotWriteToFile, asked: url)
        let error = try await failure(of: asked)
        #expect(error?.code == .storageFull)
    }
}
