import Primitives
import TestLimits
import Testing

@testable import Reprise

/// What downloads under way still need, file by file.
@Suite(.limit(minutes: 1)) struct PromisedRoomTests {
    private let room = PromisedRoom()
    private struct Refused: Error, Equatable { let others: PromisedRoom.Others }

    private func take(
        _ promise: PromisedRoom.Promise, _ entry: String, _ missing: @escaping @Sendable () -> Int64,
        tags: Set<String> = []
    ) throws {
        try room.take(promise, for: Self.file(entry, missing, tags: tags)) { _ in }
    }

    private static func file(
        _ entry: String, _ missing: @escaping @Sendable () -> Int64, title: String = "title", tags: Set<String> = []
    ) -> PromisedRoom.File {
        PromisedRoom.File(entry: CacheKey(entry), title: CacheKey(title), tags: tags, missing: missing)
    }

    private func others(than entry: String = "x", in title: String = "other") -> PromisedRoom.Others {
        room.others(than: CacheKey(entry), in: CacheKey(title))
    }

    @Test func whatIsMissingOfOthersCountsUntilTheyEnd() throws {
        let (a, b) = (room.begin(), room.begin())
        #expect(others() == .init())
        let stored = Mutex<Int64>(0)
        try take(a, "a") { 100 - stored.withLock { $0 } }
        try take(b, "b") { 50 }
        #expect(others().bytes == 150)
        #expect(others(than: "a").bytes == 50)
        stored.withLock { $0 = 70 }
        #expect(others().bytes == 80)
        // Its length is another one, as its response says.
        try take(a, "a") { 10 }
        #expect(others().bytes == 60)
        room.end(a)
        #expect(others().bytes == 50)
        room.end(b)
        #expect(others() == .init())
    }

    @Test func whatIsRefusedIsNotPromised() throws {
        let (a, b) = (room.begin(), room.begin())
        try take(a, "a") { 100 }
        #expect(throws: Refused(others: .init(bytes: 100))) {
            try room.take(b, for: Self.file("b", { 50 }, title: "other")) { throw Refused(others: $0) }
        }
        #expect(others().bytes == 100)
    }

    @Test func aFileOfTwoTitlesCountsOnceAndForTheTagsOfBoth() throws {
        try take(room.begin(), "a", { 100 }, tags: ["kids"])
        try take(room.begin(), "a", { 100 }, tags: ["kids", "trip"])
        try take(room.begin(), "b", { 7 }, tags: ["trip"])
        #expect(others() == .init(bytes: 107, bytesOfTags: ["kids": 100, "trip": 107]))
        #expect(others(than: "a") == .init(bytes: 7, bytesOfTags: ["trip": 7]))
    }

    @Test("of a file that has become shorter nothing is owed to the others")
    func nothingIsNegative() throws {
        try take(room.begin(), "a") { -30 }
        try take(room.begin(), "b") { 50 }
        #expect(others().bytes == 50)
    }

    @Test("what files of the same title are to get is told apart")
    func sameTitle() throws {
        try room.take(room.begin(), for: Self.file("a", { 100 }, title: "one")) { _ in }
        try room.take(room.begin(), for: Self.file("b", { 7 }, title: "two")) { _ in }
        #expect(others(than: "c", in: "one") == .init(bytes: 107, bytesOfTitle: 100))
    }
}
