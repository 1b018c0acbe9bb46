#if REPRISE_AVFOUNDATION_STAND_IN
    extension ScriptServer {
        /// One way in which the server treats a file; `nil` restores the default, or omits the field of a validator.
        enum Setting: Sendable {
            case version(Int64)
            case length(Int64)
            case chunk(Int64)
            case firstChunk(Int64)
            case hangAfterBytes(Int64?)
            case truncateAfter(Int64?)
            case status(Int64?)
            /// Every response is the whole file.
            case ignoresRanges
            case etag(String?)
            case lastModified(String?)
            case cacheControl(String)

            /// The settings as the value that `ScriptServer.apply` reads.
            static func patch(_ settings: [Setting]) -> ScriptValue {
                .object(Dictionary(settings.map(\.field)) { $1 })
            }

            private var field: (String, ScriptValue) {
                switch self {
                case .version(let number): ("version", .int(number))
                case .length(let bytes): ("length", .int(bytes))
                case .chunk(let bytes): ("chunk", .int(bytes))
                case .firstChunk(let bytes): ("firstChunk", .int(bytes))
                case .hangAfterBytes(let bytes): ("hangAfterBytes", Self.number(bytes))
                case .truncateAfter(let bytes): ("truncateAfter", Self.number(bytes))
                case .status(let code): ("status", Self.number(code))
                case .ignoresRanges: ("ranges", .text("ignore"))
                case .etag(let text): ("etag", Self.text(text))
                case .lastModified(let text): ("lastModified", Self.text(text))
                case .cacheControl(let text): ("cacheControl", .text(text))
                }
            }

            private static func number(_ number: Int64?) -> ScriptValue { number.map(ScriptValue.int) ?? .null }
            private static func text(_ text: String?) -> ScriptValue { text.map(ScriptValue.text) ?? .null }
        }
    }
#endif
