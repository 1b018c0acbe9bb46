#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import ByteRanges
    import Foundation
    import Primitives
    import Reprise
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension ScriptRunner {
        /// Waits and expectations.
        func check(_ op: String, _ fields: ScriptFields) async throws {
            switch op {
            case "waitInfo": try await waitInfo(fields)
            case "waitBytes": try await waitBytes(fields)
            case "waitFinish": try await waitFinish(fields)
            case "expectQuiet": try await expectQuiet(fields)
            case "expectNetwork": try expectNetwork(fields)
            case "expectNetworkIdle": try await expectNetworkIdle(fields)
            case "expectCached": try await expectCached(fields)
            case "expectMemory": try expectMemory(fields)
            case "expectOutstanding": try await expectOutstanding(fields)
            case "expectDeallocated": try await expectDeallocated(fields)
            case "expectNoOverflow": try fields.finish()
            case "expectRedirect": try await expectRedirect(fields)
            default: throw ScriptFormatError("\(place): unknown step \"\(op)\"")
            }
        }

        private func expect<Value: Equatable>(_ what: String, _ value: Value?, _ wanted: Value?) throws {
            guard let wanted, value != wanted else { return }
            throw fail("\(what) is \(value.map { "\($0)" } ?? "missing"), not \(wanted)")
        }

        /// The time limit in ticks, from the fields that specify it.
        private func limit(_ fields: inout ScriptFields) throws -> Int64? {
            let seconds = try fields.ticks(seconds: "withinSeconds")
            return try fields.int("withinTicks") ?? seconds
        }

        /// How many ticks a wait may take: 5,000, or more if a time limit or the step specifies it.
        private func patience(_ fields: inout ScriptFields, within: Int64?) throws -> Int64 {
            for name in ["limitTicks", "maxTicks", "timeoutTicks", "limit"] {
                if let ticks = try fields.int(name) { return ticks }
            }
            return max(5000, within ?? 0)
        }

        // MARK: - Waits

        private func waitInfo(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let type = try fields.text("contentType")
            let length = try fields.int("contentLength")
            let byteRange = try fields.bool("byteRange")
            var onDemand: Bool?
            switch fields.value("entireLengthOnDemand") {
            case .bool(let flag): onDemand = flag
            case nil, .null, .text("optional"): break
            default: throw ScriptFormatError("\(place): \"entireLengthOnDemand\" must be true, false or \"optional\"")
            }
            let within = try limit(&fields)
            let patience = try patience(&fields, within: within)
            try fields.finish()
            guard let information = request.information else { throw fail("\(request.id) asks for no information") }
            let came = await world.wait(limit: patience) { information.isFilled || request.isOver }
            guard came, information.isFilled else { throw fail("no content information came") }
            world.checkInformation(request)
            if let within, world.ticks - request.arrivalTick > within {
                throw fail("the information came after \(world.ticks - request.arrivalTick) ticks")
            }
            try expect("the content type", information.contentType, type)
            try expect("the length", information.contentLength, length)
            try expect("the byte range access", information.isByteRangeAccessSupported, byteRange)
            try expect("the availability on demand", information.isEntireLengthAvailableOnDemand, onDemand)
        }

        private func waitBytes(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let wanted = try fields.require(fields.int("atLeast"), "atLeast")
            let within = try limit(&fields)
            let patience = try patience(&fields, within: within)
            try fields.finish()
            let came = await world.wait(limit: patience) {
                request.state.withLock { $0.bytes >= wanted || $0.isFinished || $0.isCancelled }
            }
            let (bytes, error) = request.state.withLock { state in
                state.waitedFor = max(state.waitedFor, wanted)
                return (state.bytes, state.error)
            }
            guard came, bytes >= wanted else {
                throw fail("\(bytes) of \(wanted) bytes came\(error.map { ", then \($0)" } ?? "")")
            }
            if let within, world.ticks - request.arrivalTick > within {
                throw fail("the bytes came after \(world.ticks - request.arrivalTick) ticks")
            }
        }

        private func waitFinish(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let result = try fields.text("result")
            guard result == nil || result == "ok" || result == "error" else {
                throw ScriptFormatError("\(place): \"result\" must be \"ok\" or \"error\"")
            }
            let bytes = try fields.int("bytes")
            let bytesAtLeast = try fields.int("bytesAtLeast") ?? fields.int("atLeast")
            let bytesAtMost = try fields.int("bytesAtMost")
            let domain = try fields.text("domain")
            var codes: [Int64]?
            switch fields.value("code") {
            case .int(let code): codes = [code]
            case .list(let list):
                codes = list.compactMap { if case .int(let code) = $0 { code } else { nil } }
            case nil, .null: break
            default: throw ScriptFormatError("\(place): \"code\" must be a number")
            }
            let version = try fields.int("version")
            let within = try limit(&fields)
            let before = try fields.object("beforeBytesOf")
            let patience = try patience(&fields, within: within)
            try fields.finish()
            guard await world.wait(limit: patience, until: { request.state.withLock { $0.isFinished } }) else {
                throw fail("it did not finish; \(request.state.withLock { $0.bytes }) bytes came")
            }
            let state = request.state.withLock { $0 }
            try expect(
                "the result", state.error == nil ? "ok" : "error (\(state.error?.description ?? ""))",
                result == "ok" ? "ok" : nil)
            if result == "error", state.error == nil { throw fail("it succeeded") }
            try expect("the number of bytes", state.bytes, bytes)
            if let bytesAtLeast, state.bytes < bytesAtLeast { throw fail("only \(state.bytes) bytes came") }
            if let bytesAtMost, state.bytes > bytesAtMost { throw fail("\(state.bytes) bytes came") }
            if let error = state.error {
                try expect("the error's domain", error.domain, domain)
                if let codes, !codes.contains(Int64(error.code)) {
                    throw fail("the error's code is \(error.code), not \(codes): \(error)")
                }
            } else if domain != nil || codes != nil {
                throw fail("it succeeded")
            }
            if let within, state.finishTick - request.arrivalTick > within {
                throw fail("it finished after \(state.finishTick - request.arrivalTick) ticks, not \(within)")
            }
            if let version, !state.versions.contains(version) { throw fail("the bytes are not version \(version)'s") }
            if let before {
                var other = try ScriptFields(.object(before), "\(place), beforeBytesOf")
                let id = try other.require(other.text("id"), "id")
                let most = try other.require(other.int("bytes"), "bytes")
                try other.finish()
                let had = state.bytesOfOthers[id] ?? 0
                if had > most { throw fail("\(id) had \(had) bytes by then, more than \(most)") }
            }
        }

        private func expectQuiet(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let ticks = try fields.require(fields.int("ticks"), "ticks")
            try fields.finish()
            let before = request.state.withLock { ($0.bytes, $0.isFinished) }
            for _ in 0..<ticks { await world.tick() }
            let after = request.state.withLock { ($0.bytes, $0.isFinished) }
            if before != after { throw fail("from \(before) to \(after)") }
        }

        // MARK: - The network

        private func expectNetwork(_ given: ScriptFields) throws {
            var fields = given
            var window = Window()
            if let since = try fields.text("since") {
                guard let mark = marks[since] else { throw ScriptFormatError("\(place): there is no mark \(since)") }
                window = mark
            }
            let only = try fields.text("resource")
            let state = world.network.state.withLock { $0 }
            let exchanges = state.exchanges.dropFirst(window.exchanges).filter { only == nil || $0.resource == only }
            let arrivals = state.arrivals.dropFirst(window.arrivals).filter { only == nil || $0.resource == only }
            let bytes = arrivals.reduce(Int64(0)) { $0 + $1.range.upperBound - $1.range.lowerBound }
            let duplicates = state.duplicates.filter { only == nil || $0.key == only }.reduce(Int64(0)) {
                $0 + $1.value - (window.duplicates[$1.key] ?? 0)
            }
            let counters: [String: Int64] = [
                "bytes": bytes, "uniqueBytes": bytes - duplicates, "duplicateBytes": duplicates,
                "requests": Int64(exchanges.count), "connections": Int64(exchanges.count),
                "connectionsOpen": Int64(state.exchanges.count { $0.isOpen }),
                "bytesServedFromCache": world.bytesFromStore - window.fromStore,
            ]
            let summary = counters.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }.joined(separator: ", ")
            for (name, value) in counters {
                if let wanted = try fields.int(name), wanted != value {
                    throw fail("\(name) is not \(wanted): \(summary)")
                }
                if let most = try fields.int(name + "AtMost"), value > most {
                    throw fail("over \(most): \(name); \(summary)")
                }
                if let least = try fields.int(name + "AtLeast"), value < least {
                    throw fail("under \(least): \(name); \(summary)")
                }
            }
            if let start = try fields.int("firstRangeStart") {
                let first = exchanges.first { $0.method == "GET" }?.start
                if first != start { throw fail("the first request begins at \(first.map(String.init) ?? "nothing")") }
            }
            let exception = try fields.int("exceptFirst") ?? 0
            if let limit = try fields.int("noBytesBefore") {
                for arrival in arrivals where arrival.range.upperBound > exception && arrival.range.lowerBound < limit {
                    throw fail("the bytes \(arrival.range) came")
                }
            }
            try fields.finish()
        }

        private func expectNetworkIdle(_ given: ScriptFields) async throws {
            var fields = given
            let within = try limit(&fields)
            try fields.finish()
            guard await world.wait(limit: within ?? 5000, until: { world.network.openExchanges == 0 }) else {
                throw fail("\(world.network.openExchanges) connections are open")
            }
        }

        // MARK: - The rest

        private func expectCached(_ given: ScriptFields) async throws {
            var fields = given
            let resource = try resource(fields.require(fields.text("resource"), "resource"))
            let ranges = ByteRangeSet(try fields.require(fields.ranges("ranges"), "ranges"))
            let isMinimum = try fields.bool("atLeast") ?? false
            let isMaximum = try fields.bool("atMost") ?? false
            try fields.finish()
            await world.settle()
            guard let cache = world.cache else { return }
            let stored = try await cache.resource(for: world.url(of: resource)).storedProgress().ranges
            let missing = ranges.subtracting(stored)
            let surplus = stored.subtracting(ranges)
            if !missing.isEmpty, !isMaximum { throw fail("not stored: \(Array(missing))") }
            if !surplus.isEmpty, !isMinimum { throw fail("stored, too: \(Array(surplus))") }
        }

        private func expectMemory(_ given: ScriptFields) throws {
            var fields = given
            let chunk = try fields.int("maxChunk")
            let after = try fields.int("maxReadAheadAfterCancel")
            try fields.finish()
            let largest = Int64(world.state.withLock { $0.largestPiece })
            if let chunk, largest > chunk { throw fail("a piece had \(largest) bytes") }
            guard let after else { return }
            for request in world.state.withLock({ Array($0.requests.values) }) {
                let state = request.state.withLock { $0 }
                guard state.isCancelled else { continue }
                let ahead = state.bytes - state.waitedFor
                if ahead > after {
                    throw fail("\(request.id) was given \(ahead) bytes more than the player waited for")
                }
            }
        }

        private func expectOutstanding(_ given: ScriptFields) async throws {
            var fields = given
            let item = try fields.require(fields.text("item"), "item")
            let count = try fields.require(fields.int("count"), "count")
            try fields.finish()
            await world.settle()
            let mine = Int64(world.requests(of: item).count { !$0.isOver })
            try expect("the player's number", mine, count)
            let loader = world.state.withLock { $0.items[item]?.loader }
            if let delegate = loader?.delegate as? LoaderDelegate {
                try expect("the loader's number", Int64(delegate.outstanding), count)
            }
        }

        private func expectDeallocated(_ given: ScriptFields) async throws {
            var fields = given
            let what = try fields.require(fields.texts("what"), "what")
            let item = try fields.text("item")
            let within = try limit(&fields)
            try fields.finish()
            for name in what where !["delegate", "requestTable", "asset"].contains(name) {
                throw ScriptFormatError("\(place): \"what\" knows delegate, requestTable and asset, not \(name)")
            }
            let items = Set(world.state.withLock { $0.items.keys })
            let watched = world.state.withLock { $0.watched }.filter { watched in
                what.contains(watched.what) && (item.map { $0 == watched.item } ?? !items.contains(watched.item))
            }
            guard await world.wait(limit: within ?? 5000, until: { watched.allSatisfy { !$0.isAlive() } }) else {
                throw fail("\(watched.filter { $0.isAlive() }.map { "\($0.what) of \($0.item)" }) is alive")
            }
        }

        private func expectRedirect(_ given: ScriptFields) async throws {
            var fields = given
            let request = try request(fields.require(fields.text("id"), "id"))
            let status = try fields.int("status")
            let schemes = try fields.texts("schemes")
            let mustFinish = try fields.bool("thenFinish") ?? false
            let bytes = try fields.int("bytes")
            let within = try limit(&fields)
            try fields.finish()
            guard await world.wait(limit: within ?? 5000, until: { request.request?.redirect != nil || request.isOver })
            else {
                throw fail("no redirect came")
            }
            guard let redirect = request.request?.redirect?.url else { throw fail("it was not redirected") }
            let code = (request.request?.response as? HTTPURLResponse).map { Int64($0.statusCode) } ?? 0
            try expect("the status", code, status)
            if let schemes, !schemes.contains(redirect.scheme ?? "") { throw fail("it leads to \(redirect)") }
            let state = request.state.withLock { $0 }
            if mustFinish, !state.isFinished || state.error != nil { throw fail("it did not finish well") }
            await world.settle()
            // The player asks the delegate for the redirect's URL, too, which must leave it to the player.
            let declined = world.state.withLock { $0.items[request.item]?.loader }?.declined ?? []
            if mustFinish, !declined.contains(redirect) { throw fail("the delegate takes \(redirect)") }
            try expect("the number of bytes", state.bytes, bytes)
        }
    }
#endif
