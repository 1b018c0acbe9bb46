import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct FaultyOriginTests {
    private let library = Library(count: 20, origins: 1, seed: 3)
    private let ending = Ending()

    private func origin(restarts: FaultyOrigin.Restarts? = nil) throws -> FaultyOrigin {
        try FaultyOrigin.start(
            library, faults: FaultPlan(share: 0, seed: 1), restarts: restarts, sent: nil, seed: 1, ending: ending,
            threads: Threads())
    }

    /// Asks an origin for the first bytes of a file; `nil` if the connection fails.
    private func get(_ file: MediaFile, from origin: FaultyOrigin, bytes: Int) -> (
        reader: MessageReader, check: BodyCheck
    )? {
        guard let socket = try? Socket.connect(port: origin.port, receiveBuffer: 1 << 16, timeout: 30),
            socket.send("GET \(file.path) HTTP/1.1\r\nHost: a\r\nRange: bytes=0-\(bytes - 1)\r\n\r\n")
        else { return nil }
        var reader = MessageReader(socket)
        guard let head = try? reader.head(), head.status == 206 else { return nil }
        var check = BodyCheck(from: 0, candidates: file.representations(language: 0))
        guard (try? reader.body(.length(Int64(bytes)), most: 1000) { check.take($0) }) != nil else { return nil }
        return (reader, check)
    }

    @Test("The same seed gives the same files")
    func seed() {
        let other = Library(count: 20, origins: 1, seed: 3)
        #expect(library.files.map(\.path) == other.files.map(\.path))
        #expect(library.files.map { $0.current(language: 0) } == other.files.map { $0.current(language: 0) })
    }

    @Test("A range has the bytes of the current version")
    func range() throws {
        defer { ending.announce() }
        let origin = try origin()
        let file = try #require(library.files.first { $0.kind == .strong })
        file.change(length: 5000, at: 0)
        let check = try #require(get(file, from: origin, bytes: 4000)).check
        #expect(check.wrongBytes == 0)
        #expect(check.version == 1)
        #expect(check.position == 4000)
        #expect(!file.hadFault(since: 0))
    }

    @Test("An origin that restarts cuts its connections, and serves again on the same port")
    func restart() throws {
        defer { ending.announce() }
        let origin = try origin(restarts: FaultyOrigin.Restarts(interval: 0.3...0.3, absence: 0...0))
        let file = try #require(library.files.first { $0.kind == .strong })
        for _ in 0..<2 {
            // Between two of its restarts.
            var answer = get(file, from: origin, bytes: 100)
            while answer == nil { answer = get(file, from: origin, bytes: 100) }
            // Waits until the connection is cut.
            let next = try answer?.reader.head()
            #expect(next == nil)
            #expect(origin.wasAway(since: 0))
        }
    }

    @Test("The same seed deals the same faults, and an honest origin has none")
    func faults() {
        func faults(share: Double) -> [Fault] {
            let plan = FaultPlan(share: share, seed: 7)
            // Too far apart for a burst.
            return (0..<200).map { plan.next(at: Double($0) * 10) }
        }
        #expect(faults(share: 0.5) == faults(share: 0.5))
        #expect(faults(share: 0).allSatisfy { $0 == .none })
        #expect(!faults(share: 1).contains(.none))
    }

    @Test("A body that is cut off is no excuse if a strong validator allows the cache to continue")
    func excuses() {
        #expect(!Fault.close(after: 0.5).mayBreak(.strong))
        #expect(!Fault.reset(after: 0.5).mayBreak(.dated))
        #expect(Fault.close(after: 0.5).mayBreak(.bare))
        #expect(!Fault.stall(after: 0.5, seconds: 20).mayBreak(.bare))
        #expect(Fault.stall(after: 0.5, seconds: 40).mayBreak(.strong))
        #expect(Fault.status(503).mayBreak(.strong))
        #expect(!Fault.slow(bytesPerSecond: 1).mayBreak(.strong))
    }
}
