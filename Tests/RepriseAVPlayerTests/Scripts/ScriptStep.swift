#if REPRISE_AVFOUNDATION_STAND_IN
    /// A step of a scenario of our own: the value that `ScriptRunner` reads, made by functions with labels.
    struct ScriptStep: Sendable {
        let value: ScriptValue

        /// A step with the fields that are not `nil`.
        init(_ op: String, _ fields: [String: ScriptValue?] = [:]) {
            var all = fields.compactMapValues(\.self)
            all["op"] = .text(op)
            value = .object(all)
        }

        // MARK: - Structure

        /// Plays `steps` several times; in their texts and expressions `$name` stands for the number of the round.
        static func repeated(_ times: Int64, as name: String, _ steps: [ScriptStep]) -> ScriptStep {
            ScriptStep("repeat", ["times": .int(times), "var": .text(name), "steps": .list(steps.map(\.value))])
        }

        /// Passes if one of the options does, tried in this order.
        static func either(_ options: [ScriptStep]...) -> ScriptStep {
            ScriptStep("either", ["options": .list(options.map { .list($0.map(\.value)) })])
        }

        // MARK: - Actions of the player

        /// Makes an item; its resource has the same name unless stated.
        static func item(_ name: String, resource: String? = nil) -> ScriptStep {
            ScriptStep("item", ["item": .text(name), "resource": .text(resource ?? name)])
        }

        /// Requests bytes of the item's resource or of another one.
        static func request(
            _ id: String, by item: String, _ extent: Extent, information: Bool = false, resource: String? = nil,
            allowedTypes: [String]? = nil
        ) -> ScriptStep {
            ScriptStep(
                "request",
                [
                    "id": .text(id), "item": .text(item), "info": .bool(information), "data": extent.value,
                    "resource": resource.map(ScriptValue.text), "allowedContentTypes": allowedTypes.map(Self.texts),
                ])
        }

        /// Requests information and the first two bytes, as a player does first.
        static func probe(_ id: String, by item: String, allowedTypes: [String]? = nil) -> ScriptStep {
            request(id, by: item, .bytes(from: 0, length: 2), information: true, allowedTypes: allowedTypes)
        }

        /// Probes a URL that the delegate must leave to the player: the loader's, or the origin's if `direct`.
        static func declinedProbe(
            _ id: String, by item: String, resource: String, direct: Bool = false
        ) -> ScriptStep {
            ScriptStep(
                "request",
                [
                    "id": .text(id), "item": .text(item), "info": .bool(true),
                    "data": .object(["offset": .int(0), "length": .int(2)]), "resource": .text(resource),
                    "direct": direct ? .bool(true) : nil, "declined": .bool(true),
                ])
        }

        /// Cancels a request; without a callback the delegate is not told.
        static func cancel(_ id: String, callback: Bool = true) -> ScriptStep {
            ScriptStep("cancel", ["id": .text(id), "callback": .bool(callback)])
        }

        /// Releases an item whose requests may be open.
        static func release(_ item: String, callbacks: Bool = false) -> ScriptStep {
            ScriptStep("release", ["item": .text(item), "callbacks": .bool(callbacks)])
        }

        /// The queue continues with an item, which does nothing: the player's requests are steps of their own.
        static func advance(to item: String) -> ScriptStep { ScriptStep("advance", ["item": .text(item)]) }

        // MARK: - Actions of the world

        /// Lets ticks of 10 ms pass.
        static func tick(_ count: Int64) -> ScriptStep { ScriptStep("tick", ["n": .int(count)]) }

        /// Lets seconds pass.
        static func tick(seconds: Int64) -> ScriptStep { ScriptStep("tick", ["seconds": .int(seconds)]) }

        /// Connects or disconnects the network.
        static func network(_ state: Network) -> ScriptStep {
            ScriptStep("network", ["state": .text(state.rawValue)])
        }

        /// Changes how the server treats a file.
        static func server(_ resource: String, _ settings: ScriptServer.Setting...) -> ScriptStep {
            ScriptStep("server", ["resource": .text(resource), "patch": ScriptServer.Setting.patch(settings)])
        }

        /// Closes the cache and opens it again.
        static func restart(keepDisk: Bool) -> ScriptStep { ScriptStep("restart", ["keepDisk": .bool(keepDisk)]) }

        /// Begins the window of `expectNetwork(sinceMark: true)`.
        static let mark = ScriptStep("mark")

        static func texts(_ texts: [String]) -> ScriptValue { .list(texts.map(ScriptValue.text)) }
    }

    extension ScriptStep {
        /// The bytes of a request.
        enum Extent: Sendable {
            /// No bytes, only information.
            case none
            /// A number of bytes.
            case bytes(from: Offset, length: Length)
            /// All bytes to the end, with the length that the player states.
            case toEnd(from: Offset, length: Length = .rest)

            fileprivate var value: ScriptValue {
                switch self {
                case .none: .null
                case .bytes(let offset, let length): Self.object(offset, length, toEnd: false)
                case .toEnd(let offset, let length): Self.object(offset, length, toEnd: true)
                }
            }

            private static func object(_ offset: Offset, _ length: Length, toEnd: Bool) -> ScriptValue {
                .object(["offset": offset.value, "length": length.value, "toEnd": .bool(toEnd)])
            }
        }

        /// The position where a request begins.
        enum Offset: Sendable, ExpressibleByIntegerLiteral {
            case byte(Int64)
            /// The position that another request has reached.
            case currentOffset(of: String)
            /// A `ScriptExpression` with the variables of `repeated`.
            case expression(String)

            init(integerLiteral value: Int64) { self = .byte(value) }

            fileprivate var value: ScriptValue {
                switch self {
                case .byte(let offset): .int(offset)
                case .currentOffset(let id): .text("@\(id).currentOffset")
                case .expression(let text): .object(["expr": .text(text)])
                }
            }
        }

        /// The length of a request.
        enum Length: Sendable, ExpressibleByIntegerLiteral {
            case bytes(Int64)
            /// What the server has from the offset on.
            case rest
            /// `NSIntegerMax`.
            case max

            init(integerLiteral value: Int64) { self = .bytes(value) }

            fileprivate var value: ScriptValue {
                switch self {
                case .bytes(let count): .int(count)
                case .rest: .text("rest")
                case .max: .text("NSIntegerMax")
                }
            }
        }

        /// The state of the network.
        enum Network: String { case offline, online }
    }
#endif
