#if REPRISE_AVFOUNDATION_STAND_IN
    extension ScriptStep {
        // MARK: - Waits

        /// Waits for content information and compares what is not `nil`.
        static func waitInfo(
            _ id: String, contentType: String? = nil, contentLength: Int64? = nil, byteRange: Bool? = nil,
            entireLengthOnDemand: Bool? = nil
        ) -> ScriptStep {
            ScriptStep(
                "waitInfo",
                [
                    "id": .text(id), "contentType": contentType.map(ScriptValue.text),
                    "contentLength": contentLength.map(ScriptValue.int), "byteRange": byteRange.map(ScriptValue.bool),
                    "entireLengthOnDemand": entireLengthOnDemand.map(ScriptValue.bool),
                ])
        }

        /// Waits for bytes, counted from the offset of the request.
        static func waitBytes(_ id: String, atLeast count: Int64, withinTicks: Int64? = nil) -> ScriptStep {
            ScriptStep(
                "waitBytes",
                ["id": .text(id), "atLeast": .int(count), "withinTicks": withinTicks.map(ScriptValue.int)])
        }

        /// Waits for the end of a request that succeeds.
        static func waitFinish(
            _ id: String, bytes: Int64? = nil, version: Int64? = nil, within limit: Limit? = nil
        ) -> ScriptStep {
            ScriptStep(
                "waitFinish",
                [
                    "id": .text(id), "result": .text("ok"), "bytes": bytes.map(ScriptValue.int),
                    "version": version.map(ScriptValue.int),
                ].merging(limit?.fields ?? [:]) { $1 })
        }

        /// Waits for the end of a request that fails in `NSURLErrorDomain`, with one of the codes if there are any.
        static func waitFailure(
            _ id: String, _ codes: ErrorCode..., bytes: Bound? = nil, within limit: Limit? = nil
        ) -> ScriptStep {
            let numbers = codes.map { ScriptValue.int($0.rawValue) }
            var fields: [String: ScriptValue?] = [
                "id": .text(id), "result": .text("error"), "domain": .text("NSURLErrorDomain"),
                "code": numbers.count > 1 ? .list(numbers) : numbers.first,
            ]
            if let field = bytes?.field("bytes") { fields[field.name] = field.value }
            return ScriptStep("waitFinish", fields.merging(limit?.fields ?? [:]) { $1 })
        }

        // MARK: - Expectations

        /// Nothing happens to a request for a number of ticks.
        static func expectQuiet(_ id: String, ticks: Int64) -> ScriptStep {
            ScriptStep("expectQuiet", ["id": .text(id), "ticks": .int(ticks)])
        }

        /// Counts of the network, of all resources or of one, since the beginning or the last mark.
        static func expectNetwork(
            resource: String? = nil, sinceMark: Bool = false, bytes: Bound? = nil, uniqueBytes: Bound? = nil,
            duplicateBytes: Bound? = nil, bytesFromCache: Bound? = nil, requests: Bound? = nil,
            connections: Bound? = nil
        ) -> ScriptStep {
            var fields: [String: ScriptValue?] = [
                "resource": resource.map(ScriptValue.text), "since": sinceMark ? .text("mark") : nil,
            ]
            for (name, bound) in [
                ("bytes", bytes), ("uniqueBytes", uniqueBytes), ("duplicateBytes", duplicateBytes),
                ("bytesServedFromCache", bytesFromCache), ("requests", requests), ("connections", connections),
            ] {
                if let field = bound?.field(name) { fields[field.name] = field.value }
            }
            return ScriptStep("expectNetwork", fields)
        }

        /// All connections end.
        static func expectNetworkIdle(withinTicks ticks: Int64) -> ScriptStep {
            ScriptStep("expectNetworkIdle", ["withinTicks": .int(ticks)])
        }

        /// These ranges are stored and no others, unless more are allowed.
        static func expectCached(_ resource: String, _ ranges: Range<Int64>..., orMore: Bool = false) -> ScriptStep {
            let ends = ranges.map { ScriptValue.list([.int($0.lowerBound), .int($0.upperBound)]) }
            return ScriptStep(
                "expectCached",
                ["resource": .text(resource), "ranges": .list(ends), "atLeast": orMore ? .bool(true) : nil])
        }

        /// The largest piece, and how much a canceled request got beyond what the player waited for.
        static func expectMemory(maxChunk: Int64, maxReadAheadAfterCancel: Int64) -> ScriptStep {
            ScriptStep(
                "expectMemory",
                ["maxChunk": .int(maxChunk), "maxReadAheadAfterCancel": .int(maxReadAheadAfterCancel)])
        }

        /// The open requests of an item, by the player's count and the loader's.
        static func expectOutstanding(_ count: Int64, of item: String) -> ScriptStep {
            ScriptStep("expectOutstanding", ["item": .text(item), "count": .int(count)])
        }

        /// Objects of an item are released, or of all items that were released if there is none.
        static func expectDeallocated(_ objects: WatchedObject..., of item: String? = nil) -> ScriptStep {
            ScriptStep(
                "expectDeallocated",
                ["what": Self.texts(objects.map(\.rawValue)), "item": item.map(ScriptValue.text)])
        }

        /// A request is redirected to the origin and finished without a byte.
        static func expectRedirect(_ id: String) -> ScriptStep {
            ScriptStep(
                "expectRedirect",
                [
                    "id": .text(id), "status": .int(302), "schemes": Self.texts(["https", "http"]),
                    "thenFinish": .bool(true), "bytes": .int(0),
                ])
        }

        /// No number overflowed: a trap would have ended the process.
        static let expectNoOverflow = ScriptStep("expectNoOverflow")
    }

    extension ScriptStep {
        /// What a count must be.
        enum Bound: Sendable, ExpressibleByIntegerLiteral {
            case exactly(Int64)
            case atMost(Int64)
            case atLeast(Int64)

            init(integerLiteral value: Int64) { self = .exactly(value) }

            fileprivate func field(_ name: String) -> (name: String, value: ScriptValue) {
                switch self {
                case .exactly(let count): (name, .int(count))
                case .atMost(let count): (name + "AtMost", .int(count))
                case .atLeast(let count): (name + "AtLeast", .int(count))
                }
            }
        }

        /// The longest time from the request to its end.
        enum Limit: Sendable {
            case ticks(Int64)
            case seconds(Int64)

            fileprivate var fields: [String: ScriptValue?] {
                switch self {
                case .ticks(let count): ["withinTicks": .int(count)]
                case .seconds(let count): ["withinSeconds": .int(count)]
                }
            }
        }

        /// A code of `NSURLErrorDomain`.
        enum ErrorCode: Int64 {
            case timedOut = -1001
            case networkConnectionLost = -1005
            case notConnectedToInternet = -1009
            case badServerResponse = -1011
        }

        /// An object that the world watches.
        enum WatchedObject: String { case delegate, requestTable, asset }
    }
#endif
