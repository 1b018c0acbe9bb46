import Foundation
import TestLimits
import Testing

@testable import Soak

@Suite(.limit(minutes: 1))
struct WatchdogTests {
    private let watchdog = Watchdog(patience: 60)

    @Test("A request hangs once its client has waited too long for a byte, and is reported once")
    func hang() {
        let vigil = watchdog.vigil(over: "client 7")
        vigil.begins("GET /a bytes=5-") { -.infinity }
        vigil.waits(at: 100)
        vigil.received(12)
        vigil.waits(at: 110)
        #expect(watchdog.hangs(at: 170) == [])
        let hang = Watchdog.Hang(client: "client 7", request: "GET /a bytes=5-", bytes: 12, seconds: 61)
        #expect(watchdog.hangs(at: 171) == [hang])
        #expect(watchdog.hangs(at: 1000) == [])
        vigil.begins("GET /b") { -.infinity }
        vigil.waits(at: 1000)
        #expect(watchdog.hangs(at: 1061).map(\.request) == ["GET /b"])
    }

    @Test("A client that does not read does not hang")
    func pause() {
        let vigil = watchdog.vigil(over: "client")
        vigil.begins("GET /a") { -.infinity }
        vigil.waits(at: 0)
        vigil.received(1)
        #expect(watchdog.hangs(at: 1000) == [])
    }

    @Test("While the origin is at fault, and for as long after it, nothing hangs", arguments: [50, Double.infinity])
    func trouble(last: Double) {
        let vigil = watchdog.vigil(over: "client")
        vigil.begins("GET /a") { last }
        vigil.waits(at: 0)
        #expect(watchdog.hangs(at: 110) == [])
        #expect(watchdog.hangs(at: 111).isEmpty == (last == .infinity))
    }

    @Test("What the server says of the file that hangs is found in its status")
    func status() throws {
        let json = """
            {"connections": 3, "answers": 2, "name": "x", "active": [{"url": "http://localhost:1/strong/1.mp4", \
            "readers": 2, "fetches": 1, "storedBytes": 30, "completeLength": 100, "spans": [[0, 10], [20, 40]]}]}
            """
        let status = try ServerStatus(Data(json.utf8))
        #expect(
            status.excerpt(of: "/strong/1.mp4")
                == "3 connections, 2 answers, 1 files active, this one with readers: 2, fetches: 1, stored: 30 of 100 "
                + "(0..<10 20..<40)")
        #expect(status.excerpt(of: "/strong/2.mp4").hasSuffix("not this one"))
    }
}
