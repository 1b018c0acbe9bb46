import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// The control socket as a file, and who gets through it.
@Suite(.limit(minutes: 2)) struct ControlSocketTests {
    private static func place(_ folder: String) -> ControlPlace {
        ControlPlace(folder: folder, name: "reprise.sock", isMade: true)
    }

    private static func mode(_ path: String) throws -> mode_t {
        var status = stat()
        guard lstat(path, &status) == 0 else { throw POSIXError(.ENOENT) }
        return status.st_mode
    }

    /// A folder below a temporary one, with a short path.
    private static func withFolder(_ body: (String) async throws -> Void) async throws {
        let directory = try TemporaryDirectory()
        let result: Result<Void, any Error>
        do { result = .success(try await body(directory.path)) } catch { result = .failure(error) }
        directory.remove()
        try result.get()
    }

    @Test func placesAreThoseOfTheEnvironmentInTheirOrder() throws {
        let environment = ["RUNTIME_DIRECTORY": "/run/reprise:/run/other", "XDG_RUNTIME_DIR": "/run/user/1000"]
        let places = ControlPlace.all(for: "/nowhere/cache", environment: environment)
        // printf %s /nowhere/cache | sha256sum
        #expect(
            places.map(\.path) == [
                "/run/reprise/reprise.sock", "/run/user/1000/reprise/\(Self.hash).sock", "/nowhere/cache/control.sock",
            ])
        #expect(ControlPlace.all(for: "/c", environment: [:]).map(\.path) == ["/c/control.sock"])
        #expect(ControlPlace.all(for: "/c", environment: ["XDG_RUNTIME_DIR": "relative"]).count == 1)
    }

    private static let hash = "6fa20516a49a5bd7"

    @Test func onlyItsUserMayUseItAndNothingStaysBehind() async throws {
        try await Self.withFolder { folder in
            let place = Self.place(folder + "/run")
            var path = ""
            try await ProxyBench.run(configureProxy: { $0.controlPlaces = [place] }) { proxy async throws in
                path = try #require(proxy.server.controlPath)
                #expect(path == place.path)
                #expect(try Self.mode(path) == S_IFSOCK | 0o600)
                #expect(try Self.mode(place.folder) == S_IFDIR | 0o700)
                let link = proxy.bench.directory.path + "/control.sock"
                #expect(try Self.mode(link) & S_IFMT == S_IFLNK)
                let client = try RawClient(path: link)
                try await client.get("/-/status.json")
                #expect(try await client.head().status == 200)
            }
            #expect(throws: POSIXError.self) { try Self.mode(path) }
        }
    }

    @Test func aStaleSocketIsReplacedAndOthersAreLeftAlone() async throws {
        try await Self.withFolder { folder in
            let (first, second) = (Self.place(folder + "/a"), Self.place(folder + "/b"))
            // As a killed server leaves it: bound, and nothing listens.
            try Self.bindAndForget(first)
            try await ProxyBench.run(configureProxy: { $0.controlPlaces = [first, second] }) { proxy async throws in
                #expect(proxy.server.controlPath == first.path)
                // While this one listens, another takes the next place.
                try await ProxyBench.run(configureProxy: { $0.controlPlaces = [first, second] }) { other async throws in
                    #expect(other.server.controlPath == second.path)
                }
                let client = try RawClient(path: first.path)
                try await client.get("/-/status.json")
                #expect(try await client.head().status == 200)
            }
        }
    }

    private static func bindAndForget(_ place: ControlPlace) throws {
        guard mkdir(place.folder, 0o700) == 0 else { throw POSIXError(.EEXIST) }
        close(try UnixAddress.bind(place.path.utf8))
    }

    @Test("a file, a link or a folder of that name is never removed, and the next place is taken")
    func foreignFiles() async throws {
        try await Self.withFolder { folder in
            let (first, second) = (Self.place(folder + "/a"), Self.place(folder + "/b"))
            #expect(mkdir(first.folder, 0o700) == 0)
            let target = folder + "/precious"
            #expect(FileManager.default.createFile(atPath: target, contents: Data("precious".utf8)))
            let makers: [() throws -> Void] = [
                { try Data("mine".utf8).write(to: URL(fileURLWithPath: first.path)) },
                { try FileManager.default.createSymbolicLink(atPath: first.path, withDestinationPath: target) },
                { try FileManager.default.createDirectory(atPath: first.path, withIntermediateDirectories: false) },
            ]
            for make in makers {
                try make()
                let before = try Self.mode(first.path)
                try await ProxyBench.run(configureProxy: { $0.controlPlaces = [first, second] }) { proxy async throws in
                    #expect(proxy.server.controlPath == second.path)
                }
                #expect(try Self.mode(first.path) == before)
                try FileManager.default.removeItem(atPath: first.path)
            }
            #expect(try String(contentsOfFile: target, encoding: .utf8) == "precious")
        }
    }

    @Test("a folder that was there keeps its mode") func foldersKeepTheirMode() async throws {
        try await Self.withFolder { folder in
            let place = Self.place(folder + "/run")
            #expect(mkdir(place.folder, 0o755) == 0 && chmod(place.folder, 0o755) == 0)
            try await ProxyBench.run(configureProxy: { $0.controlPlaces = [place] }) { proxy async throws in
                #expect(proxy.server.controlPath == place.path)
                #expect(try Self.mode(place.folder) == S_IFDIR | 0o755)
            }
        }
    }

    @Test("a folder that is a link, or that others can write, is not used") func foreignFolders() async throws {
        try await Self.withFolder { folder in
            let real = folder + "/real"
            #expect(mkdir(real, 0o700) == 0)
            try FileManager.default.createSymbolicLink(atPath: folder + "/link", withDestinationPath: real)
            let open = folder + "/open"
            #expect(mkdir(open, 0o700) == 0 && chmod(open, 0o777) == 0)
            let places = [
                Self.place(folder + "/link"), Self.place(open),
                ControlPlace(folder: open, name: "x.sock", isMade: false),
            ]
            try await ProxyBench.run(configureProxy: { $0.controlPlaces = places }) { proxy async throws in
                #expect(proxy.server.controlPath == nil)
            }
        }
    }

    #if os(Linux)
        @Test func aPathThatIsTooLongForAnAddressIsReachedThroughItsFolder() async throws {
            try await Self.withFolder { folder in
                let long = folder + "/" + String(repeating: "n", count: 200)
                let place = Self.place(long)
                try await ProxyBench.run(configureProxy: { $0.controlPlaces = [place] }) { proxy async throws in
                    #expect(try Self.mode(place.path) == S_IFSOCK | 0o600)
                    let client = try RawClient(path: try #require(proxy.server.controlPath))
                    try await client.get("/-/status.json")
                    #expect(try await client.head().status == 200)
                }
                #expect(throws: POSIXError.self) { try Self.mode(place.path) }
            }
        }
    #endif

    @Test func itServesNothingButControl() async throws {
        try await Self.withFolder { folder in
            try await ProxyBench.run(configureProxy: { $0.controlPlaces = [Self.place(folder + "/run")] }) {
                proxy async throws in
                proxy.bench.publish("/a", length: 10)
                let client = try RawClient(path: try #require(proxy.server.controlPath))
                for (target, status) in [
                    (proxy.target("/a"), 404), ("/", 404), ("/-/nothing", 404), ("/-/events?x=1", 400),
                ] {
                    try await client.get(target)
                    let head = try await client.head()
                    #expect(head.status == status, "\(target)")
                    _ = try await client.body(try #require(head.length))
                }
                #expect(await proxy.bench.origin.settledSnapshot()["/a"].requestCount == 0)
            }
        }
    }

    @Test func itAnswersThoughThePortHasTooManyClients() async throws {
        try await Self.withFolder { folder in
            let place = Self.place(folder + "/run")
            try await ProxyBench.run(configureProxy: { configuration in
                configuration.controlPlaces = [place]
                configuration.maximumConnections = 1
            }) { proxy async throws in
                let first = try RawClient(port: proxy.server.port)
                try await first.get("/")
                #expect(try await first.head().status == 200)
                let second = try RawClient(port: proxy.server.port)
                try await second.get("/")
                #expect(try await second.head().status == 503)
                let client = try RawClient(path: place.path)
                try await client.get("/-/status.json")
                #expect(try await client.head().status == 200)
            }
        }
    }
}
