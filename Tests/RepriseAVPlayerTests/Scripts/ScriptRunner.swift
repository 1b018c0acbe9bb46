#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    @testable import RepriseAVPlayer

    /// Plays one scenario of files, which the player asks the loader for.
    final class ScriptRunner: ScriptSteps {
        let scenario: Scenario
        let world: ScriptWorld
        var place = ""
        var marks: [String: Window] = [:]

        /// The beginning of a counting window.
        struct Window {
            var exchanges = 0
            var arrivals = 0
            var duplicates: [String: Int64] = [:]
            var fromStore: Int64 = 0
        }

        private init(_ scenario: Scenario, _ world: ScriptWorld) {
            self.scenario = scenario
            self.world = world
        }

        /// Plays `scenario`; returns the rules found broken.
        ///
        /// Throws for a script that cannot be read, and for the first expectation that fails.
        static func play(_ scenario: Scenario) async throws -> [String] {
            if scenario.isOfStreams { return try await StreamScriptRunner.play(scenario) }
            var servers: [String: ScriptServer] = [:]
            for (name, value) in scenario.server {
                guard scenario.resources[name] != nil else {
                    throw ScriptFormatError("\(scenario.id), server: there is no resource \(name)")
                }
                var server = ScriptServer()
                try server.apply(value, "\(scenario.id), server \(name)")
                servers[name] = server
            }
            return try await ScriptWorld.run(scenario.resources, servers: servers) { world in
                for (name, ranges) in scenario.preload.sorted(by: { $0.key < $1.key }) {
                    try await world.preload(name, ranges)
                }
                try await world.restart(keepDisk: true)
                world.network.startScript()
                let runner = ScriptRunner(scenario, world)
                try await runner.run(scenario.steps, in: scenario.id)
            }
        }

        func perform(_ op: String, _ fields: ScriptFields) async throws {
            switch op {
            case "seek", "advance": return
            case "item": try runItem(fields)
            case "request": try await runRequest(fields)
            case "cancel": try await runCancel(fields)
            case "release": try await runRelease(fields)
            case "tick": try await runTick(fields)
            case "network": try runNetwork(fields)
            case "server": try runServer(fields)
            case "restart": try await runRestart(fields)
            case "mark": try runMark(fields)
            default: try await check(op, fields)
            }
        }

        // MARK: - Actions of the player

        func resource(_ name: String) throws -> ScriptResource {
            guard let resource = scenario.resources[name] else {
                throw ScriptFormatError("\(place): there is no resource \(name)")
            }
            return resource
        }

        func request(_ id: String) throws -> ScriptRequest {
            guard let request = world.state.withLock({ $0.requests[id] }) else {
                throw ScriptFormatError("\(place): there is no request \(id)")
            }
            return request
        }

        private func runItem(_ given: ScriptFields) throws {
            var fields = given
            let name = try fields.require(fields.text("item"), "item")
            let resource = try resource(fields.text("resource") ?? name)
            try fields.finish()
            try world.makeItem(name, resource: resource)
        }

        private func runRequest(_ given: ScriptFields) async throws {
            var fields = given
            let id = try fields.require(fields.text("id"), "id")
            let item = try fields.require(fields.text("item"), "item")
            var allowed = try fields.texts("allowedContentTypes")
            var wantsInformation = false
            switch fields.value("info") {
            case .bool(let flag): wantsInformation = flag
            case .object(let object):
                wantsInformation = true
                var information = try ScriptFields(.object(object), "\(place), info")
                allowed = try information.texts("allowedContentTypes") ?? allowed
                try information.finish()
            case nil, .null: break
            default: throw ScriptFormatError("\(place): \"info\" must be true or false")
            }
            guard let main = world.state.withLock({ $0.items[item]?.resource }) else {
                throw ScriptFormatError("\(place): there is no item \(item)")
            }
            let resource = try resource(fields.text("resource") ?? main)
            let data = try fields.object("data")
            let isDirect = try fields.bool("direct") ?? false
            let isDeclined = try fields.bool("declined") ?? false
            try fields.finish()
            let url = try isDirect ? world.originalURL(of: resource) : world.loaderURL(of: resource)
            guard !isDeclined else {
                guard try await world.offer(url, to: item) == false else { throw fail("the delegate takes \(url)") }
                return
            }
            let (offset, length, reachesEnd) = try extent(data, resource)
            let request = ScriptRequest(
                id: id, item: item, resource: resource, arrivalTick: world.ticks, offset: offset, length: length,
                reachesEnd: reachesEnd,
                information: wantsInformation
                    ? AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: allowed) : nil,
                versions: Set(1...16))
            try await world.send(request, url: url)
        }

        private func extent(_ data: [String: ScriptValue]?, _ resource: ScriptResource) throws -> (Int64?, Int, Bool) {
            guard let data else { return (nil, 0, false) }
            var fields = try ScriptFields(.object(data), "\(place), data")
            let offset: Int64
            switch fields.value("offset") {
            case .int(let number): offset = number
            case .text(let text) where text.hasPrefix("@") && text.hasSuffix(".currentOffset"):
                let id = String(text.dropFirst().dropLast(".currentOffset".count))
                offset = try request(id).state.withLock { $0.currentOffset }
            default: throw ScriptFormatError("\(place): \"offset\" must be a number or \"@id.currentOffset\"")
            }
            let reachesEnd = try fields.bool("toEnd") ?? false
            let length: Int
            switch fields.value("length") {
            case .int(let number): length = Int(number)
            case .text("rest"): length = Int(max(world.currentLength(of: resource) - offset, 0))
            case .text("NSIntegerMax"): length = .max
            default: throw ScriptFormatError("\(place): \"length\" must be a number, \"rest\" or \"NSIntegerMax\"")
            }
            try fields.finish()
            return (offset, length, reachesEnd)
        }

        private func runCancel(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let callback = try fields.bool("callback") ?? true
            try fields.finish()
            await world.cancel(request, callback: callback)
        }

        private func runRelease(_ given: ScriptFields) async throws {
            var fields = given
            let item = try fields.require(fields.text("item"), "item")
            let callbacks = try fields.bool("callbacks") ?? false
            try fields.finish()
            await world.release(item, callbacks: callbacks)
        }

        // MARK: - Actions of the world

        private func runTick(_ given: ScriptFields) async throws {
            var fields = given
            let seconds = try fields.ticks(seconds: "seconds")
            let count = try fields.int("n") ?? seconds ?? 1
            try fields.finish()
            for _ in 0..<count { await world.tick() }
        }

        private func runNetwork(_ given: ScriptFields) throws {
            var fields = given
            switch try fields.require(fields.text("state"), "state") {
            case "offline": world.network.setOffline(true)
            case "online": world.network.setOffline(false)
            case let state: throw ScriptFormatError("\(place): the network is \"offline\" or \"online\", not \(state)")
            }
            try fields.finish()
        }

        private func runServer(_ given: ScriptFields) throws {
            var fields = given
            let resource = try resource(fields.require(fields.text("resource"), "resource"))
            let patch = try fields.require(fields.value("patch"), "patch")
            try fields.finish()
            var server = world.server(of: resource.name)
            try server.apply(patch, "\(place), patch")
            world.setServer(server, of: resource.name)
        }

        private func runRestart(_ given: ScriptFields) async throws {
            var fields = given
            let keepDisk = try fields.bool("keepDisk") ?? true
            try fields.finish()
            try await world.restart(keepDisk: keepDisk)
        }

        private func runMark(_ given: ScriptFields) throws {
            var fields = given
            let name = try fields.text("id") ?? fields.text("name") ?? "mark"
            try fields.finish()
            let fromStore = world.bytesFromStore
            marks[name] = world.network.state.withLock { state in
                Window(
                    exchanges: state.exchanges.count, arrivals: state.arrivals.count, duplicates: state.duplicates,
                    fromStore: fromStore)
            }
            marks["mark"] = marks[name]
        }
    }
#endif
