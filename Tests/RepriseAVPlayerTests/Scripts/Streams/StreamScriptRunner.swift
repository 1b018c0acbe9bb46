#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseTesting

    @testable import RepriseAVPlayer

    /// Plays one scenario of HLS streams, with the model of a player that asks the proxy in the process.
    final class StreamScriptRunner: ScriptSteps {
        /// Seconds for which a player waits for an origin that asks for patience, unless a step says otherwise.
        private static let patience = 60

        let world: StreamScriptWorld
        var place = ""
        /// What the origin had counted at each mark.
        var marks: [String: TestOrigin.Snapshot] = [:]

        private init(_ world: StreamScriptWorld) { self.world = world }

        /// Plays `scenario`; returns the rules found broken.
        ///
        /// Throws for a script that cannot be read, and for the first expectation that fails.
        static func play(_ scenario: Scenario) async throws -> [String] {
            try await StreamScriptWorld.run(scenario.streams) { world in
                let runner = StreamScriptRunner(world)
                try await runner.run(scenario.steps, in: scenario.id)
            }
        }

        func perform(_ op: String, _ fields: ScriptFields) async throws {
            switch op {
            case "hlsLoad": try await load(fields)
            case "hlsPlay": try await play(fields)
            case "hlsSeek": try seek(fields)
            case "hlsSwitch": try change(fields)
            case "hlsSuspend": try suspend(fields)
            case "hlsResume": try resume(fields)
            case "hlsRelease": try await release(fields)
            case "hlsNetwork": try setNetwork(fields)
            case "hlsServer": try setServer(fields)
            case "hlsTick": try tick(fields)
            case "hlsRestart": try await restart(fields)
            case "hlsMark": try mark(fields)
            default: try await check(op, fields)
            }
        }

        func item(_ name: String) throws -> StreamScriptItem {
            guard let item = world.items[name] else { throw ScriptFormatError("\(place): there is no item \(name)") }
            return item
        }

        func stream(_ name: String) throws -> StreamScriptWorld.Published {
            guard let stream = world.streams[name] else {
                throw ScriptFormatError("\(place): there is no stream \(name)")
            }
            return stream
        }

        private func number(_ value: Int64, below bound: Int64, _ name: String) throws -> Int {
            guard (0..<bound).contains(value) else {
                throw ScriptFormatError("\(place): \"\(name)\" must be at least 0 and below \(bound)")
            }
            return Int(value)
        }

        private func seconds(_ fields: inout ScriptFields) throws -> Int {
            try number(fields.require(fields.int("seconds"), "seconds"), below: 100_000, "seconds")
        }

        // MARK: - Actions of the player

        private func load(_ given: ScriptFields) async throws {
            var fields = given
            let name = try fields.require(fields.text("item"), "item")
            let stream = try stream(fields.text("stream") ?? name)
            let isStoredOnly = try fields.bool("storedOnly") ?? false
            let outcome = try ExpectedOutcome(&fields)
            try fields.finish()
            guard let cache = world.cache, let url = stream.url else { return }
            let asset = cache.asset(for: url, options: isStoredOnly ? .storedOnly : PlaybackOptions())
            let item = StreamScriptItem(asset, of: stream, in: world)
            world.items[name] = item
            try await expect(outcome) { try await item.start(wait: waiting(Self.patience)) }
        }

        private func play(_ given: ScriptFields) async throws {
            var fields = given
            let items = try fields.require(fields.texts("item"), "item").map { try item($0) }
            let seconds = try seconds(&fields)
            let limit = try fields.int("withinSeconds").map { try number($0, below: 100_000, "withinSeconds") }
            let outcome = try ExpectedOutcome(&fields)
            try fields.finish()
            let wait = waiting(limit ?? Self.patience)
            try await expect(outcome) {
                for _ in 0..<seconds {
                    for item in items where try await !item.playSecond(at: world.now, wait: wait) {
                        guard outcome.mayEnd else { throw fail("the stream is at its end") }
                    }
                    world.pass()
                }
            }
        }

        /// Lets the player wait for so many seconds in all.
        private func waiting(_ limit: Int) -> (Duration) async throws -> Void {
            var waited = Duration.zero
            return { [world] delay in
                waited += delay
                guard waited <= .seconds(limit) else { throw StreamScriptItem.Stalled() }
                for _ in 0..<delay.components.seconds { world.pass() }
            }
        }

        /// Runs a step of the player, which must come to `outcome`.
        private func expect(_ outcome: ExpectedOutcome, _ body: () async throws -> Void) async throws {
            var result = ExpectedOutcome.Result.played
            do { try await body() } catch is StreamScriptItem.Stalled {
                result = .stalled
            } catch let error as HLSPlayerModel.ItemFailed {
                result = .failed(error.code)
            } catch let error as StreamScriptItem.WrongBytes {
                throw fail("I2: the bytes of \(error.name) are not the origin's")
            }
            if let message = outcome.objection(to: result) { throw fail(message) }
        }

        private func seek(_ given: ScriptFields) throws {
            var fields = given
            let item = try item(fields.require(fields.text("item"), "item"))
            let second = try seconds(&fields)
            try fields.finish()
            guard item.seek(to: second) else { throw ScriptFormatError("\(place): a live item plays at its end") }
        }

        private func change(_ given: ScriptFields) throws {
            var fields = given
            let item = try item(fields.require(fields.text("item"), "item"))
            let variants = Int64(LiveStream.variants)
            let variant = try number(fields.require(fields.int("variant"), "variant"), below: variants, "variant")
            try fields.finish()
            item.change(to: variant)
        }

        private func suspend(_ given: ScriptFields) throws {
            var fields = given
            let text = try fields.text("listener") ?? "closed"
            try fields.finish()
            guard let loss = StreamScriptItem.ListenerLoss(rawValue: text) else {
                throw ScriptFormatError("\(place): \"listener\" must be \"closed\", \"shut\" or \"none\"")
            }
            world.suspend(loss)
        }

        private func resume(_ given: ScriptFields) throws {
            var fields = given
            let isTold = try fields.bool("told") ?? true
            try fields.finish()
            world.resume(isTold: isTold)
        }

        private func release(_ given: ScriptFields) async throws {
            var fields = given
            let name = try fields.require(fields.text("item"), "item")
            _ = try item(name)
            try fields.finish()
            await world.release(name)
        }

        // MARK: - Actions of the world

        private func setNetwork(_ given: ScriptFields) throws {
            var fields = given
            switch try fields.require(fields.text("state"), "state") {
            case "offline": world.line.set(isCut: true)
            case "online": world.line.set(isCut: false)
            case let state: throw ScriptFormatError("\(place): the network is \"offline\" or \"online\", not \(state)")
            }
            try fields.finish()
        }

        private func setServer(_ given: ScriptFields) throws {
            var fields = given
            let stream = try stream(fields.require(fields.text("stream"), "stream"))
            let patch = try fields.require(fields.value("patch"), "patch")
            let name = try fields.require(fields.text("file"), "file")
            try fields.finish()
            try StreamServerPatch(patch, "\(place), patch").apply(to: stream, file: name)
        }

        private func tick(_ given: ScriptFields) throws {
            var fields = given
            let seconds = try seconds(&fields)
            try fields.finish()
            for _ in 0..<seconds { world.pass() }
        }

        private func restart(_ given: ScriptFields) async throws {
            try given.finish()
            try await world.restart()
        }

        private func mark(_ given: ScriptFields) throws {
            var fields = given
            let name = try fields.text("id") ?? "mark"
            try fields.finish()
            marks[name] = world.origin.snapshot
        }
    }
#endif
