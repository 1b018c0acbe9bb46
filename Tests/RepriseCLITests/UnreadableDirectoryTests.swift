import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A cache that cannot be looked at is no empty one.
@Suite(.limit(minutes: 3)) struct UnreadableDirectoryTests {
    private static let url = "http://127.0.0.1/film.mp4"
    private static let commands = [
        ["list"], ["list", "--json"], ["limit"], ["limit", "news", "1GB"], ["stats"], ["show", url],
        ["export", url, "-o", "-"], ["verify"],
        ["prune", "--to", "0"], ["remove", url], ["remove", "--all"], ["pin", url], ["unpin", url], ["fetch", url],
    ]

    private static func expectFailure(_ path: String, _ reason: String, prefix: [String] = []) async throws {
        for command in commands {
            let outcome = try await Command.run(command + ["--cache-dir", path], prefix: prefix)
            #expect(outcome.exit == .status(74), "\(command): \(outcome)")
            #expect(outcome.errors.contains(path) && outcome.errors.contains(reason), "\(command): \(outcome)")
            #expect(outcome.output.isEmpty, "\(command): \(outcome.output)")
        }
    }

    @Test func aFileIsNoDirectory() async throws {
        let directory = try TemporaryDirectory()
        let file = try directory.write(PreparedPlace.old, to: "file")
        try await Self.expectFailure(file, "Not a directory")
        try await Self.expectFailure(file + "/below", "Not a directory")
        #expect(try [UInt8](Data(contentsOf: URL(fileURLWithPath: file))) == PreparedPlace.old)
    }

    @Test func aDirectoryThatMayNotBeReadIsSaid() async throws {
        guard let prefix = ReadOnlyTests.prefix else { return }
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 1000)
            let cache = site.directory.path(of: "cache")
            try await Command.run(["fetch", site.origin.url("/film.mp4"), "--cache-dir", cache])
            #expect(chmod(cache, 0) == 0)
            defer { _ = chmod(cache, 0o700) }
            try await Self.expectFailure(cache, "Permission denied", prefix: prefix)
        }
    }

    @Test func aMissingOneIsEmpty() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "no/cache")
        let list = try await Command.run(["list", "--cache-dir", path])
        #expect(list.exit == .status(0), "\(list)")
        #expect(list.output == "Nothing is stored in \(path).\n")
        #expect(try await Command.run(["show", Self.url, "--cache-dir", path]).exit == .status(66))
    }

    @Test("other users read neither the index nor the media, whatever the umask", arguments: ["000", "022", "077"])
    func modes(umask: String) async throws {
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 100_000)
            let cache = site.directory.path(of: "cache")
            try FileManager.default.createDirectory(
                atPath: cache, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o755])
            // While it is open the index has a log.
            site.origin.hold("/film.mp4", at: 50_000)
            let child = try ChildProcess(
                "/bin/sh",
                [
                    "-c", "umask \(umask); exec \"$0\" fetch \"$1\" --cache-dir \"$2\"", Command.path,
                    site.origin.url("/film.mp4"), cache,
                ], environment: Command.environment())
            await site.origin.waitUntil { $0.bodyBytesSent >= 50_000 }
            func expectPrivate() throws {
                for name in try FileManager.default.subpathsOfDirectory(atPath: cache) {
                    var status = stat()
                    guard lstat("\(cache)/\(name)", &status) == 0 else { continue }
                    let mode: mode_t = status.st_mode & S_IFMT == S_IFDIR ? 0o700 : 0o600
                    #expect(status.st_mode & 0o7777 == mode, "\(name)")
                }
            }
            try expectPrivate()
            site.origin.release("/film.mp4")
            #expect(await child.outcome().exit == .status(0))
            try expectPrivate()
        }
    }
}
