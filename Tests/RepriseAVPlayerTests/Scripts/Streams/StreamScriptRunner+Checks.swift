#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import RepriseProxy
    import RepriseTesting

    extension StreamScriptRunner {
        /// Expectations.
        func check(_ op: String, _ fields: ScriptFields) async throws {
            switch op {
            case "hlsExpectOrigin": try await expectOrigin(fields)
            case "hlsExpectPlayed": try expectPlayed(fields)
            case "hlsExpectIdle": try await expectIdle(fields)
            default: throw ScriptFormatError("\(place): unknown step \"\(op)\" in a scenario of streams")
            }
        }

        /// Files of a stream at the origin by what they are, or one by its name.
        private static func contains(_ file: String, _ kind: String?) -> Bool {
            switch kind {
            case nil: true
            case "lists": file.hasSuffix(".m3u8")
            case "segments": file.hasPrefix("s") && file.hasSuffix(".mp4")
            case "parts": file.hasPrefix("p") && file.hasSuffix(".mp4")
            case "maps": file.hasPrefix("m") && file.hasSuffix(".mp4")
            case let name?: file == name
            }
        }

        private func expectOrigin(_ given: ScriptFields) async throws {
            var fields = given
            let name = try fields.require(fields.text("stream"), "stream")
            _ = try stream(name)
            let kind = try fields.text("files")
            var before: TestOrigin.Snapshot?
            if let since = try fields.text("since") {
                guard let mark = marks[since] else { throw ScriptFormatError("\(place): there is no mark \(since)") }
                before = mark
            }
            let snapshot = await world.origin.settledSnapshot()
            let folder = StreamScriptWorld.folder(of: name) + "/"
            var counters: [String: Int64] = ["requests": 0, "bytes": 0, "duplicateBytes": 0]
            for path in Set(snapshot.requests.map(\.path)) where path.hasPrefix(folder) {
                guard Self.contains(String(path.dropFirst(folder.count)), kind) else { continue }
                let (now, then) = (snapshot[path], before?[path])
                counters["requests", default: 0] += Int64(now.requestCount - (then?.requestCount ?? 0))
                counters["bytes", default: 0] += now.bodyBytesSent - (then?.bodyBytesSent ?? 0)
                counters["duplicateBytes", default: 0] +=
                    now.bytesSentMoreThanOnce - (then?.bytesSentMoreThanOnce ?? 0)
            }
            try compare(counters, &fields)
            try fields.finish()
        }

        private func expectPlayed(_ given: ScriptFields) throws {
            var fields = given
            let item = try item(fields.require(fields.text("item"), "item"))
            try compare(["segments": Int64(item.segments), "parts": Int64(item.parts)], &fields)
            try fields.finish()
        }

        /// Compares numbers with the fields that begin with their names.
        private func compare(_ counters: [String: Int64], _ fields: inout ScriptFields) throws {
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
        }

        /// Nothing is under way, at the origin or in the app.
        private func expectIdle(_ given: ScriptFields) async throws {
            try given.finish()
            let items = world.items.values
            let isIdle = await world.comes {
                world.origin.snapshot.responsesUnderWay == 0 && items.allSatisfy { $0.proxy?.answersUnderWay ?? 0 == 0 }
            }
            guard !isIdle else { return }
            throw fail("\(world.origin.snapshot.responsesUnderWay) responses are under way")
        }
    }
#endif
