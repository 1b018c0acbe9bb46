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

/// `serve` and `fetch` on a directory that cannot be written.
@Suite(.limit(minutes: 3)) struct ReadOnlyTests {
    /// The user `nobody`.
    private static let unprivileged = 65_534
    private static let setpriv = "/usr/bin/setpriv"

    /// What must not be written.
    enum Extent: CaseIterable {
        case everything
        /// The directory, in which SQLite cannot make its files then.
        case directoryOnly
    }

    /// The words before a command that take the right to write anywhere from it; `nil` if that cannot be done here.
    static var prefix: [String]? {
        guard getuid() == 0 else { return [] }
        guard FileManager.default.isExecutableFile(atPath: setpriv) else {
            print("skipped: modes do not bind the superuser, and there is no \(setpriv)")
            return nil
        }
        return [setpriv, "--reuid=\(unprivileged)", "--regid=\(unprivileged)", "--clear-groups"]
    }

    private static func set(_ extent: Extent, below directory: String, isWritable: Bool) throws {
        let names = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
        for path in [directory] + names.map({ "\(directory)/\($0)" }) {
            let isDirectory = (try? FileManager.default.contentsOfDirectory(atPath: path)) != nil
            if getuid() == 0 { _ = chown(path, uid_t(unprivileged), gid_t(unprivileged)) }
            guard extent == .everything || path == directory else { continue }
            let mode = (isDirectory ? 0o555 : 0o444) | (isWritable ? 0o200 : 0)
            try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        }
    }

    /// Every file with its bytes, but for the lock and SQLite's, which is memory that processes share.
    private static func contents(_ site: Site) throws -> [String: Data] {
        try DiskUse.contents(of: site.directory.path).filter { $0.key != "lock" && !$0.key.hasSuffix("-shm") }
    }

    @Test("stored bytes are served, and nothing is added", arguments: Extent.allCases, [false, true])
    func reading(extent: Extent, isSealed: Bool) async throws {
        guard let prefix = Self.prefix else { return }
        let key = isSealed ? ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)] : [:]
        try await Site.run { site async throws in
            for path in ["/film.mp4", "/new.mp4"] { site.publish(path, length: 300_000) }
            let url = site.origin.url("/film.mp4")
            let fetch = try await Command.run("fetch", site.directory, [url], environment: key)
            #expect(fetch.exit == .status(0), "\(fetch)")
            if extent == .directoryOnly {
                for suffix in ["-wal", "-shm"] {
                    try? FileManager.default.removeItem(atPath: site.directory.path(of: "catalogue.sqlite\(suffix)"))
                }
            }
            try Self.set(extent, below: site.directory.path, isWritable: false)
            defer { try? Self.set(extent, below: site.directory.path, isWritable: true) }
            let before = try Self.contents(site)

            let outcome = try await Serving.run(
                ["--port", "0", "--cache-dir", site.directory.path], environment: key, prefix: prefix
            ) { serving async throws in
                for _ in 0..<2 {
                    let answer = try await serving.get(site.target("/film.mp4"))
                    let isRight = answer.body == TestPattern.bytes(in: 0..<300_000, seed: 1)
                    #expect(answer.head.status == 200 && isRight)
                }
                let part = try await serving.get(site.target("/film.mp4"), ["Range: bytes=100000-100009"])
                #expect(part.head.status == 206)
                #expect(part.body == TestPattern.bytes(in: 100_000..<100_010, seed: 1))
                #expect(site.origin.snapshot.requestCount == 1)
                let new = try await serving.get(site.target("/new.mp4"))
                let isRight = new.body == TestPattern.bytes(in: 0..<300_000, seed: 1)
                #expect(isRight)
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            let place = "Cache: \(site.directory.path), 300 kB of 2.00 GB stored, "
            let line = outcome.output.split(separator: "\n").first { $0.hasPrefix(place) }
            #expect(line?.hasSuffix(", read-only") == true, "\(outcome.output)")
            #expect(outcome.errors.contains("read-only"), "\(outcome)")

            let outputs = try TemporaryDirectory()
            if getuid() == 0 { _ = chown(outputs.path, uid_t(Self.unprivileged), gid_t(Self.unprivileged)) }
            for (number, name) in ["/film.mp4", "/new.mp4"].enumerated() {
                let output = outputs.path(of: "\(number).mp4")
                let fetch = try await Command.run(
                    "fetch", site.directory, [site.origin.url(name), "--output", output], environment: key,
                    prefix: prefix)
                #expect(fetch.exit == .status(0), "\(fetch)")
                #expect(fetch.errors.contains("read-only"), "\(fetch)")
                let isRight =
                    try [UInt8](Data(contentsOf: URL(fileURLWithPath: output)))
                    == TestPattern.bytes(in: 0..<300_000, seed: 1)
                #expect(isRight)
            }
            #expect(site.origin.snapshot["/film.mp4"].requestCount == 1)
            let list = try await Command.run("list", site.directory, environment: key, prefix: prefix)
            #expect(list.output.contains("1 title, 300 kB"), "\(list)")
            let remove = try await Command.run("remove", site.directory, ["--all"], environment: key, prefix: prefix)
            #expect(remove.exit == .status(74), "\(remove)")
            let isUnchanged = try Self.contents(site) == before
            #expect(isUnchanged)
        }
    }

    @Test(
        "files in a folder that may not be written are named, by every command that removes",
        arguments: [["remove", "--all"], ["prune", "--to", "0"]])
    func folder(command: [String]) async throws {
        guard let prefix = Self.prefix else { return }
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 300_000)
            try await Command.run("fetch", site.directory, [site.origin.url("/film.mp4")])
            try Self.set(.directoryOnly, below: site.directory.path, isWritable: true)
            let file = try #require(DiskUse.mediaFiles(of: site.directory.path).first)
            let folder = (file as NSString).deletingLastPathComponent
            #expect(chmod(folder, 0o500) == 0)
            defer { _ = chmod(folder, 0o700) }
            let outcome = try await Command.run(
                command[0], site.directory, Array(command.dropFirst()), prefix: prefix)
            #expect(outcome.exit == .status(74), "\(outcome)")
            #expect(outcome.errors.contains("1 file cannot be removed: \(file)"), "\(outcome)")
            #expect(outcome.errors.contains("Permission denied"), "\(outcome)")
            #expect(DiskUse.bytes(under: folder) == 0, "it was not emptied")
            #expect(chmod(folder, 0o700) == 0)
            try await Command.run("verify", site.directory, prefix: prefix)
            let again = try await Command.run("verify", site.directory, prefix: prefix)
            #expect(again.exit == .status(0), "\(again)")
        }
    }

    @Test("with another key nothing advises --reset to who may not write")
    func otherKey() async throws {
        guard let prefix = Self.prefix else { return }
        try await Site.run { site async throws in
            site.publish("/film.mp4", length: 30_000)
            let key = ["REPRISE_ENCRYPT_KEY": String(repeating: "7f", count: 32)]
            try await Command.run("fetch", site.directory, [site.origin.url("/film.mp4")], environment: key)
            try Self.set(.everything, below: site.directory.path, isWritable: false)
            defer { try? Self.set(.everything, below: site.directory.path, isWritable: true) }
            let verify = try await Command.run("verify", site.directory, prefix: prefix)
            #expect(verify.exit == .status(78), "\(verify)")
            #expect(!verify.errors.contains("--reset"), "\(verify)")
            #expect(
                verify.errors.contains("because \(site.directory.path) cannot be written. (Permission denied)"),
                "\(verify)")
        }
    }
}
