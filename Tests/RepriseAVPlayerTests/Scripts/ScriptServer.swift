#if REPRISE_AVFOUNDATION_STAND_IN
    import Foundation
    import HTTPTypes
    import RepriseTesting

    /// How the server treats one file; the defaults follow the scripts' conventions.
    struct ScriptServer: Sendable {
        var version: Int64 = 1
        var length: Int64?
        var latencyTicks: Int64 = 1
        var newConnectionLatencyTicks: Int64?
        var chunk = 16_384
        var firstChunk: Int?
        var hangs = false
        var hangAfterBytes: Int64?
        var failAfterBytes: Int64?
        var failWith: Int64?
        var mime: String?
        var hasMime = true
        var etag: String? = "\"v1\""
        var lastModified: String? = "Wed, 01 Jan 2025 00:00:00 GMT"
        var ignoresRange = false
        var refusesRange = false
        var acceptRanges: String?
        var hasContentLength = true
        var status: Int?
        var failFirst: Int?
        var truncateAfter: Int64?
        var redirect: String?
        var fields: [String: String] = [:]

        /// Takes over the values of `value`; `null` means the default.
        mutating func apply(_ value: ScriptValue, _ place: String) throws {
            let defaults = ScriptServer()
            var given = try ScriptFields(value, place)
            for name in given.names {
                switch name {
                case "version": version = try given.int(name) ?? defaults.version
                case "length": length = try given.int(name)
                case "latencyTicks": latencyTicks = try given.int(name) ?? defaults.latencyTicks
                case "newConnectionLatencyTicks": newConnectionLatencyTicks = try given.int(name)
                case "chunk": chunk = Int(try given.int(name) ?? 16_384)
                case "firstChunk": firstChunk = try given.int(name).map { Int($0) }
                case "hang", "hangs": hangs = try given.bool(name) ?? false
                case "hangAfterBytes", "stallAfterBytes": hangAfterBytes = try given.int(name)
                case "failAfterBytes": failAfterBytes = try given.int(name)
                case "failWith": failWith = try given.int(name)
                case "mime", "contentType":
                    hasMime =
                        given.value(name).map { value in
                            if case .text(let text) = value { mime = text }
                            return value != .null
                        } ?? true
                case "etag":
                    switch given.value(name) {
                    case .text(let text): etag = text
                    case .null: etag = nil
                    case .bool(false): etag = nil
                    default: throw ScriptFormatError("\(place): \"etag\" must be a text or null")
                    }
                case "lastModified": lastModified = try given.text(name)
                case "ranges":
                    let mode = given.value(name)
                    switch mode {
                    case .null, .text("206"), .int(206), .bool(true), .text("ok"):
                        (ignoresRange, refusesRange) = (false, false)
                    case .text("ignore"), .text("200"), .int(200), .bool(false): ignoresRange = true
                    case .text("416"), .int(416): refusesRange = true
                    default: throw ScriptFormatError("\(place): \"ranges\" must be \"206\", \"ignore\" or \"416\"")
                    }
                case "acceptRanges":
                    switch given.value(name) {
                    case .text(let text): acceptRanges = text
                    case .bool(true), .null: acceptRanges = nil
                    default: acceptRanges = "none"
                    }
                case "contentLength": hasContentLength = try given.bool(name) ?? true
                case "status": status = try given.int(name).map { Int($0) }
                case "failFirst": failFirst = try given.int(name).map { Int($0) }
                case "truncateAfter", "truncateAfterBytes": truncateAfter = try given.int(name)
                case "redirect": redirect = try given.text(name)
                case "cacheControl": fields["Cache-Control"] = try given.text(name)
                case "contentEncoding": fields["Content-Encoding"] = try given.text(name)
                case "headers", "fields":
                    for (field, value) in try given.object(name) ?? [:] {
                        if case .text(let text) = value { fields[field] = text } else { fields[field] = nil }
                    }
                default: break
                }
            }
            try given.finish()
        }

        func currentLength(_ resource: ScriptResource) -> Int64 { length ?? resource.length }

        /// The resource to serve from the real origin.
        func originResource(_ resource: ScriptResource) -> TestOrigin.Resource {
            var personality = TestOrigin.Personality()
            personality.ignoresRange = ignoresRange
            personality.acceptRanges = ignoresRange ? nil : acceptRanges ?? "bytes"
            if !hasContentLength { personality.framing = .chunked }
            personality.status = status ?? (refusesRange ? 416 : nil)
            personality.failFirst = failFirst
            personality.truncateAfter = truncateAfter
            personality.redirect = redirect
            var extra = HTTPFields()
            for (name, value) in fields {
                guard let name = HTTPField.Name(name) else { continue }
                extra[name] = value
            }
            return TestOrigin.Resource(
                .headedPattern(head: resource.head, seed: resource.seed(version), length: currentLength(resource)),
                mediaType: hasMime ? mime ?? resource.mime : nil, etag: etag, lastModified: lastModified, fields: extra,
                personality: personality)
        }
    }
#endif
