import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

/// What `reprise serve` and the manager of services tell each other.
@Suite(.limit(minutes: 2)) struct ServiceManagerTests {
    @Test(
        "an absolute path, or @ and a name: sd_notify(3)",
        arguments: [
            ("/run/systemd/notify", Array("/run/systemd/notify".utf8)), ("@a/b", [0] + Array("a/b".utf8)),
            ("/" + String(repeating: "x", count: 200), nil), ("relative", nil), ("vsock:2:1", nil), ("/", nil),
            ("@", nil), ("", nil), (nil, nil),
        ] as [(String?, [UInt8]?)])
    func addresses(variable: String?, expected: [UInt8]?) {
        #expect(NotifySocket(variable)?.address == expected)
    }

    #if os(Linux)
        @Test func aNameOutsideTheFileSystemIsReached() async throws {
            let name = "reprise-\(UUID().uuidString)"
            let manager = try NoteSocket([0] + Array(name.utf8))
            let socket = try #require(NotifySocket("@\(name)"))
            socket.post(.watchdog)
            #expect(await manager.next() == ["WATCHDOG=1"])
        }
    #endif

    @Test func aManagerThatIsGoneIsNoticed() async throws {
        let socket = try #require(NotifySocket("/nowhere/at/all"))
        let isTaken = await withCheckedContinuation { continuation in
            socket.post(.watchdog) { continuation.resume(returning: $0) }
        }
        #expect(!isTaken)
    }

    @Test func itIsToldEachStepOfTheServersLife() async throws {
        try await Site.run { site async throws in
            let place = try TemporaryDirectory()
            defer { place.remove() }
            let manager = try NoteSocket(Array("\(place.path)/notify".utf8))
            let variables = ["NOTIFY_SOCKET": "\(place.path)/notify", "WATCHDOG_USEC": "20000"]
            let options = ["--token", "secret", "--drain-timeout", "2m"]
            // Read while the server ends: the notes of the watchdog fill a socket without a reader, and later ones wait
            // behind them.
            var stopping: Task<[String], Never>?
            let outcome = try await Serving.run(site.directory, options, environment: variables) {
                serving async throws in
                // The token is part of the address, and everybody may see a unit's status.
                let ready = ["READY=1", "STATUS=Serving on port \(serving.port)."]
                #expect(await manager.next() == ready)
                for _ in 0..<3 { #expect(await manager.next() == ["WATCHDOG=1"]) }
                serving.child.send(SIGHUP)
                let reloading = await manager.nextNews()
                #expect(reloading.first == "RELOADING=1")
                let value = reloading.last?.split(separator: "=").last
                let moment = try #require(value.flatMap { UInt64($0) })
                #expect(reloading.last == "MONOTONIC_USEC=\(moment)")
                #expect(await manager.nextNews() == ready)
                stopping = Task { await manager.nextNews() }
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            let note = await stopping?.value
            #expect(note?.first == "STOPPING=1")
            // 2 min, and 30 s for the index.
            #expect(note?.last == "EXTEND_TIMEOUT_USEC=150000000")
        }
    }
}
