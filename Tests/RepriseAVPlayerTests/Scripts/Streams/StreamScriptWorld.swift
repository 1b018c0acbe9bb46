#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseHTTPClient
    import RepriseProxy
    import RepriseTesting
    import TestClock
    import TestLimits

    @testable import RepriseAVPlayer

    #if canImport(Darwin)
        import Darwin
    #else
        import Glibc
    #endif

    /// Streams at an origin, and an app that plays them through the proxy in the process, on a clock that stands still
    /// unless a step lets seconds pass.
    final class StreamScriptWorld {
        /// A stream that is published.
        enum Published {
            case film(HLSFilm)
            case live(LiveStream)

            var url: URL? {
                switch self {
                case .film(let film): film.url
                case .live(let stream): stream.url
                }
            }
        }

        private let clock = ShiftableClock()
        private let beginning: ContinuousClock.Instant
        let origin: TestOrigin
        /// The player's own network.
        let network = NIOOrigin()
        let line: CuttableOrigin
        private let client: NIOOrigin
        private let directory: TemporaryDirectory
        private(set) var cache: MediaCache?
        private(set) var streams: [String: Published] = [:]
        var items: [String: StreamScriptItem] = [:]
        private(set) var violations: [String] = []

        private init(origin: TestOrigin, client: NIOOrigin, directory: TemporaryDirectory) {
            (self.origin, self.client, self.directory) = (origin, client, directory)
            line = CuttableOrigin(client)
            beginning = clock.now
        }

        /// Makes a world and takes it down after `body`; returns what remained of it (I10).
        static func run(
            _ streams: [String: ScriptStream], _ body: (StreamScriptWorld) async throws -> Void
        ) async throws -> [String] {
            let directory = try TemporaryDirectory()
            let origin = try await TestOrigin.start()
            let world = StreamScriptWorld(origin: origin, client: NIOOrigin(), directory: directory)
            for (name, stream) in streams { world.publish(stream, name) }
            let result: Result<Void, any Error>
            do {
                try await world.open()
                result = .success(try await body(world))
            } catch { result = .failure(error) }
            await world.tearDown()
            try result.get()
            return world.violations
        }

        static func folder(of stream: String) -> String { "/\(stream)" }

        private func publish(_ stream: ScriptStream, _ name: String) {
            let folder = Self.folder(of: name)
            switch stream.kind {
            case .film(let segments, let length, let hasMaps):
                streams[name] = .film(
                    HLSFilm(at: folder, of: origin, segments: segments, hasMaps: hasMaps, length: { length }))
            case .live(let hasParts, let hasDeltas):
                streams[name] = .live(LiveStream(at: folder, of: origin, hasParts: hasParts, hasDeltas: hasDeltas))
            }
        }

        // MARK: - The cache

        private func open() async throws {
            var configuration = MediaCache.Configuration()
            configuration.clock = clock.cacheClock
            configuration.retry.firstDelay = .milliseconds(1)
            configuration.retry.maximumDelay = .milliseconds(2)
            cache = try await MediaCache.open(directory: directory.path, origin: line, configuration: configuration)
        }

        private func close() async {
            for name in items.keys.sorted() { await release(name) }
            await cache?.close()
            cache = nil
        }

        /// A new process on the same disk.
        func restart() async throws {
            await close()
            try await open()
        }

        private func tearDown() async {
            for case .live(let stream) in streams.values { stream.end() }
            await close()
            for client in [client, network] { await client.shutdown() }
            await origin.stop()
            directory.remove()
        }

        // MARK: - Time

        /// The time since the beginning.
        var now: Duration { beginning.duration(to: clock.now) }

        /// A second passes, here and at the origin.
        func pass() {
            for case .live(let stream) in streams.values { stream.advance() }
            clock.shift(by: .seconds(1))
        }

        // MARK: - The app

        /// The system takes the listeners from the app.
        func suspend(_ taking: StreamScriptItem.ListenerLoss) {
            for item in items.values { item.suspend() }
            guard taking != .none else { return }
            var proxies: [InAppProxy] = []
            for case let proxy? in items.values.map(\.proxy) where !proxies.contains(where: { $0 === proxy }) {
                proxies.append(proxy)
            }
            for proxy in proxies { take(proxy, taking) }
        }

        private func take(_ proxy: InAppProxy, _ taking: StreamScriptItem.ListenerLoss) {
            let openings = proxy.openings
            if taking == .closed { Self.close(proxy.descriptor) } else { shutdown(proxy.descriptor, CInt(SHUT_RDWR)) }
            for item in items.values where item.proxy === proxy {
                item.setPause { await eventually { proxy.openings > openings } }
            }
        }

        private static func close(_ descriptor: CInt) {
            #if canImport(Darwin)
                _ = Darwin.close(descriptor)
            #else
                _ = Glibc.close(descriptor)
            #endif
        }

        /// The app goes on.
        func resume(isTold: Bool) {
            if isTold {
                NotificationCenter.default.post(
                    name: Notification.Name("UIApplicationWillEnterForegroundNotification"), object: nil)
            }
            for item in items.values { item.resume(at: now) }
        }

        /// Releases an item; with the last one of a proxy that must go, too.
        func release(_ name: String) async {
            guard let proxy = releasing(name), !items.values.contains(where: { $0.proxy === proxy }) else { return }
            let isGone = await comes { proxy.connections == 0 && proxy.answersUnderWay == 0 && !proxy.check() }
            guard !isGone else { return }
            violations.append(
                "I10: after \(name), \(proxy.connections) connections, \(proxy.answersUnderWay) answers, "
                    + (proxy.check() ? "a listener" : "no listener"))
        }

        /// Releases an item's objects and returns its proxy.
        private func releasing(_ name: String) -> InAppProxy? {
            guard let item = items.removeValue(forKey: name) else { return nil }
            item.suspend()
            return item.proxy
        }

        /// Whether `condition` holds within some seconds, in which work under way ends.
        func comes(_ condition: () -> Bool) async -> Bool {
            for _ in 0..<2000 {
                if condition() { return true }
                await breathe()
            }
            return condition()
        }
    }
#endif
