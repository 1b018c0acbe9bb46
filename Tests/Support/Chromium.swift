import Foundation
import RepriseTesting

#if os(macOS) || os(Linux)
    /// A real headless browser with its own profile.
    public final class Chromium: Sendable {
        /// Where it is installed; `nil` if it is not.
        public static let path = ["chromium", "chromium-browser", "google-chrome"].lazy
            .compactMap { ChildProcess.path(of: $0) }.first

        private let profile: TemporaryDirectory

        /// Makes a profile for it.
        public init() throws { profile = try TemporaryDirectory(prefix: "reprise-chromium") }

        deinit { profile.remove() }

        /// Runs it on `url` to its end: with `--dump-dom` or `--screenshot`, once the page has loaded.
        public func run(_ url: String, _ options: [String]) async throws -> ChildProcess.Outcome {
            try await ChildProcess.run(Self.path ?? "", arguments(url, options), limit: .seconds(90))
        }

        /// Keeps `url` open as long as `body` runs.
        public func open(_ url: String, _ body: () async throws -> Void) async throws {
            try await start(url, limit: .seconds(120)) { _ async throws in try await body() }
        }

        /// Opens an empty page for `body`, which uses it through the protocol of the browser's own tools.
        public func use(_ body: (DevTools) async throws -> Void) async throws {
            try await start("about:blank", limit: .seconds(270)) { child async throws in
                let text = await child.errors.wait { $0.contains("/devtools/browser/") }
                let port = text.firstMatch(of: /ws:\/\/127\.0\.0\.1:(\d+)\//).flatMap { Int($0.1) }
                guard let port else { throw DevTools.Failure(text: text) }
                try await body(try await DevTools.connect(port: port))
            }
        }

        private func start(
            _ url: String, limit: Duration, _ body: (ChildProcess) async throws -> Void
        ) async throws {
            let child = try ChildProcess(
                Self.path ?? "", arguments(url, ["--remote-debugging-port=0"]), limit: limit)
            let result: Result<Void, any Error>
            do { result = .success(try await body(child)) } catch { result = .failure(error) }
            child.send(SIGTERM)
            _ = await child.outcome()
            try result.get()
        }

        /// Where ``run(_:_:)`` puts a screenshot.
        public var screenshot: String { profile.path(of: "shot.png") }

        private func arguments(_ url: String, _ options: [String]) -> [String] {
            [
                "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--mute-audio",
                "--no-first-run", "--disable-background-networking", "--disable-component-update",
                "--disable-popup-blocking", "--autoplay-policy=no-user-gesture-required", "--window-size=400,300",
                "--user-data-dir=\(profile.path)/profile",
            ] + options + [url]
        }
    }
#endif
