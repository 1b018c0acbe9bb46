import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseCLI

#if canImport(Glibc)
    import Glibc
#endif

/// Sockets that a service manager passes on: sd_listen_fds(3).
@Suite(.limit(minutes: 2)) struct PassedSocketTests {
    /// A socket of this machine, bound to any port of `address`, an IPv4 address in the order of the network.
    static func bound(to address: UInt32 = UInt32(0x7F00_0001).bigEndian) throws -> Int32 {
        #if canImport(Darwin)
            let descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #endif
        var name = sockaddr_in()
        name.sin_family = sa_family_t(AF_INET)
        name.sin_addr.s_addr = address
        let result = withUnsafePointer(to: &name) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        try #require(result == 0, "\(errno)")
        return descriptor
    }

    @Test func clientsThatCameBeforeTheServerAreServed() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            let socket = try Self.bound()
            defer { close(socket) }
            try #require(listen(socket, 16) == 0)
            let port = try PassedSocket(listening: socket).port
            let early = try RawClient(port: port)
            try await early.get(site.target("/a.mp4"))
            // Another port than it is told: the socket's counts.
            let options = ["--cache-dir", site.directory.path, "--port", "1"]
            for _ in 0..<2 {
                let outcome = try await Serving.run(options, environment: ["LISTEN_FDS": "1"], passing: socket) {
                    serving async throws in
                    #expect(serving.port == port)
                    #expect(try await serving.get(site.target("/a.mp4")).head.status == 200)
                }
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
            #expect(try await early.head().status == 200)
            #expect(try await early.body(1000) == TestPattern.bytes(in: 0..<1000, seed: 1))
        }
    }

    @Test("the real systemd-socket-activate starts it for the first client, which is served") func socketActivation()
        async throws
    {
        guard let program = ChildProcess.path(of: "systemd-socket-activate") else {
            return print("skipped: systemd-socket-activate is not installed")
        }
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 1000)
            // It takes no port 0, so it gets one that was free a moment ago.
            let socket = try Self.bound()
            try #require(listen(socket, 1) == 0)
            let port = try PassedSocket(listening: socket).port
            close(socket)
            let child = try ChildProcess(
                program,
                [
                    "--listen", "127.0.0.1:\(port)", Command.path, "serve", "--cache-dir", site.directory.path,
                    "--port", "1",
                ],
                environment: Command.environment(), limit: .seconds(100))
            _ = await child.errors.wait { $0.contains("Listening on 127.0.0.1:\(port)") }
            let client = try RawClient(port: port)
            try await client.get(site.target("/a.mp4"))
            #expect(try await client.head().status == 200)
            #expect(try await client.body(1000) == TestPattern.bytes(in: 0..<1000, seed: 1))
            let line = "listening on http://127.0.0.1:\(port)\n"
            #expect(await child.output.wait { $0.contains(line) }.contains(line))
            child.send(SIGTERM)
            #expect(await child.outcome().exit == .status(0))
        }
    }

    @Test func itIsRefusedWhereItsAddressWouldBe() async throws {
        let directory = try TemporaryDirectory()
        defer { directory.remove() }
        let socket = try Self.bound(to: 0)
        defer { close(socket) }
        try #require(listen(socket, 16) == 0)
        let command = ["-c", "export LISTEN_PID=$$; exec \"$0\" \"$@\"", try Command.path, "serve"]
        let outcome = try await ChildProcess(
            "/bin/sh", command + ["--cache-dir", directory.path],
            environment: Command.environment(["LISTEN_FDS": "1"]), passing: socket
        ).outcome()
        #expect(outcome.exit == .status(64), "\(outcome)")
        #expect(outcome.errors.contains("0.0.0.0"))
    }

    @Test func onlyWhatIsMeantForThisProcessIsTaken() throws {
        #expect(try PassedSocket(["LISTEN_PID": "8", "LISTEN_FDS": "1"], process: 7) == nil)
        #expect(try PassedSocket(["LISTEN_FDS": "1"], process: 7) == nil)
        #expect(try PassedSocket(["LISTEN_PID": "7"], process: 7) == nil)
        for count in ["2", "0", "-1", "x"] {
            #expect(throws: RepriseError.self) {
                try PassedSocket(["LISTEN_PID": "7", "LISTEN_FDS": count], process: 7)
            }
        }
    }

    @Test func whatDoesNotListenIsRefused() throws {
        let silent = try Self.bound()
        defer { close(silent) }
        #expect(throws: RepriseError.self) { try PassedSocket(listening: silent) }
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        #expect(throws: RepriseError.self) { try PassedSocket(listening: file) }
        try #require(listen(silent, 1) == 0)
        #expect(try PassedSocket(listening: silent).host == "127.0.0.1")
    }
}
