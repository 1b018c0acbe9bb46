#if REPRISE_AVFOUNDATION_STAND_IN
    import HTTPTypes
    import RepriseTesting

    /// How the origin treats a file of a stream: a refusal, for some requests or for all, or a cut in the middle.
    struct StreamServerPatch {
        private let place: String
        private let status: Int?
        private let times: Int?
        private let retryAfter: Int64?
        private let cutAfter: Int64?

        init(_ value: ScriptValue, _ place: String) throws {
            var fields = try ScriptFields(value, place)
            self.place = place
            status = try fields.int("status").flatMap { Int(exactly: $0) }
            times = try fields.int("times").flatMap { Int(exactly: $0) }
            retryAfter = try fields.int("retryAfter")
            cutAfter = try fields.int("cutAfter")
            try fields.finish()
        }

        /// `file` is one of a film's media, or "lists" for those of a live stream, which are refused with 503 or not.
        func apply(to stream: StreamScriptWorld.Published, file: String) throws {
            switch stream {
            case .film(let film):
                guard film.lengths[file] != nil else { throw ScriptFormatError("\(place): there is no file \(file)") }
                film.republish(file) { personality in
                    personality.status = status == 200 ? nil : status
                    personality.failFirst = times
                    personality.truncateAfter = cutAfter
                    if let retryAfter { personality.fields[.retryAfter] = "\(retryAfter)" }
                }
            case .live(let stream):
                guard file == "lists", status == 503 || status == 200, times == nil, cutAfter == nil else {
                    throw ScriptFormatError("\(place): the lists of a live stream have status 503 or 200")
                }
                stream.fail(status == 503)
            }
        }
    }
#endif
