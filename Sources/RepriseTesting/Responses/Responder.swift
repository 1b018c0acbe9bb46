import HTTPTypes

/// Decides the answer to one request: as RFC 9110 requires, then changed by the personality.
///
/// Pure, except for the date.
struct Responder {
    typealias Personality = TestOrigin.Personality

    let request: HTTPRequestSummary
    let isHTTP10: Bool
    let clientKeepsAlive: Bool
    let personality: Personality
    /// The number of the request at its resource, from 1.
    let attempt: Int
    /// `nil` if there is no resource at the path.
    let resource: TestOrigin.Resource?
    /// The complete length of the content; `nil` if it cannot be read.
    let length: Int64?
    /// Seconds since 1970, for the Date field.
    let now: Int

    func answer() -> Answer {
        var answer = replacement ?? representation
        finish(&answer)
        return answer
    }

    // MARK: Answers instead of the resource

    /// The answer that replaces the resource: by the personality, for a missing resource, or for another method.
    private var replacement: Answer? {
        guard request.method == "GET" || request.method == "HEAD" else {
            if let status = personality.statusOfOtherMethods { return Answer(status: status) }
            var answer = text("Only GET and HEAD are served here.\n", status: 405)
            answer.fields[.allow] = "GET, HEAD"
            return answer
        }
        if let demanded = personality.demandedAuthorization, request.fields[.authorization] != demanded {
            return Answer(status: 401)
        }
        if let target = personality.redirectLoop ? request.target : personality.redirect {
            var answer = Answer(status: personality.redirectStatus)
            answer.fields[.location] = target
            return answer
        }
        if let status = personality.status, attempt <= personality.failFirst ?? .max {
            var answer = Answer(status: status)
            answer.body = [.literal(personality.statusBody)]
            answer.fields[.contentType] = personality.statusBody.isEmpty ? nil : "text/plain; charset=utf-8"
            return answer
        }
        if let page = personality.captivePortal {
            var answer = text(page, status: 200)
            answer.fields[.contentType] = "text/html; charset=utf-8"
            return answer
        }
        if resource == nil { return text("There is nothing at \(request.path).\n", status: 404) }
        if length == nil { return text("The content cannot be read.\n", status: 500) }
        return nil
    }

    private func text(_ text: String, status: Int) -> Answer {
        var answer = Answer(status: status)
        answer.fields[.contentType] = "text/plain; charset=utf-8"
        answer.body = [.literal(Array(text.utf8))]
        return answer
    }

    // MARK: The resource

    private var etag: String? {
        guard let etag = resource?.etag, personality.weakETag, !etag.hasPrefix("W/") else { return resource?.etag }
        return "W/" + etag
    }

    private var representation: Answer {
        let length = length ?? 0
        let conditions = Conditions(fields: request.fields, etag: etag, lastModified: resource?.lastModified)
        var answer = Answer(status: conditions.status ?? 200)
        if answer.status != 412 { describe(&answer) }
        guard answer.status == 200 else { return answer }

        if personality.emptyBody { return answer }
        if personality.isEndless {
            answer.body = [length > 0 ? .content(0..<Int64.max) : .filler(.max)]
            answer.fields[.acceptRanges] = nil
            return answer
        }
        answer.body = [.content(0..<length)]
        if request.fields[.range] == nil, let range = personality.partialWithoutRange?.clamped(to: 0..<length),
            !range.isEmpty
        {
            makePartial(&answer, range: range, of: length)
            return answer
        }
        guard request.method == "GET", !personality.ignoresRange,
            conditions.allowsRange || personality.ignoresIfRange,
            let header = request.fields[.range].flatMap(RangeHeader.init)
        else { return answer }
        if let range = header.resolve(length: length) {
            makePartial(&answer, range: bend(range, length: length), of: length)
        } else {
            answer.status = 416
            answer.body = []
            answer.fields[.contentType] = nil
            answer.fields[.contentRange] = personality.omitsLengthOf416 ? nil : "bytes */\(length)"
        }
        return answer
    }

    private func describe(_ answer: inout Answer) {
        answer.fields[.acceptRanges] = personality.acceptRanges
        answer.fields[.eTag] = etag
        answer.fields[.lastModified] = resource?.lastModified
        if answer.status != 304 {
            answer.fields[.contentType] = resource?.mediaType
            answer.fields[.contentEncoding] = personality.contentEncoding
        }
        answer.replaceFields(with: resource?.fields ?? [:])
    }
}

extension Responder {
    /// The range that is sent instead of the requested one; at least one byte, within the representation.
    func bend(_ range: Range<Int64>, length: Int64) -> Range<Int64> {
        let start = min(max(0, range.lowerBound + personality.shiftsStartBy), length - 1)
        let change = personality.shiftsStartBy + personality.longerThanAsked - personality.shorterThanAsked
        return start..<min(max(start + 1, range.upperBound + change), length)
    }

    /// Turns an answer into 206 with this range, plain or wrapped in a multipart body (RFC 9110 §15.3.7).
    func makePartial(_ answer: inout Answer, range: Range<Int64>, of length: Int64) {
        answer.status = 206
        let field = contentRange(range, of: length)
        guard personality.multipartForSingle else {
            answer.fields[.contentRange] = field
            answer.body = [.content(range)]
            return
        }
        let boundary = "THIS_STRING_SEPARATES"
        let type = answer.fields[.contentType].map { "Content-Type: \($0)\r\n" } ?? ""
        answer.fields[.contentType] = "multipart/byteranges; boundary=\(boundary)"
        answer.body = [
            .literal(Array("--\(boundary)\r\n\(type)Content-Range: \(field)\r\n\r\n".utf8)),
            .content(range),
            .literal(Array("\r\n--\(boundary)--\r\n".utf8)),
        ]
    }

    private func contentRange(_ range: Range<Int64>, of length: Int64) -> String {
        let total =
            switch personality.statedLength {
            case .actual: "\(length)"
            case .unknown: "*"
            case .wrong(let number): "\(number)"
            }
        return "bytes \(range.lowerBound)-\(range.upperBound - 1 + personality.misstatesEndBy)/\(total)"
    }

    /// Adds the fields of every response: date, framing, the personality's own fields; removes a body that is not
    /// allowed.
    func finish(_ answer: inout Answer) {
        if answer.fields[.date] == nil { answer.fields[.date] = IMFFixdate(secondsSince1970: now).description }
        if answer.status == 200, let interval = personality.icyInterval, request.fields[.icyMetadata] == "1" {
            answer.fields[.icyMetadataInterval] = "\(interval)"
            answer.fields[.acceptRanges] = nil
        }
        frame(&answer)
        if request.method == "HEAD" { answer.body = [] }
        answer.closes = answer.closes || !clientKeepsAlive || !personality.keepsAlive
        answer.fields[.connection] = answer.closes ? "close" : isHTTP10 ? "keep-alive" : nil
        answer.replaceFields(with: personality.fields)
        if request.method != "HEAD", answer.status < 300 { answer.body.append(.filler(personality.surplusBytes)) }
    }

    private func frame(_ answer: inout Answer) {
        if answer.status == 304 || answer.status == 204 {
            answer.body = []
            return
        }
        answer.framing = personality.framing
        let isStream = personality.isEndless || answer.fields[.icyMetadataInterval] != nil
        if isStream, answer.status == 200, answer.framing == .contentLength { answer.framing = .closeDelimited }
        if isHTTP10, answer.framing == .chunked { answer.framing = .closeDelimited }
        switch answer.framing {
        case .contentLength:
            let length = answer.body.reduce(0) { $0 + $1.length }
            answer.fields[.contentLength] = "\(personality.statedContentLength ?? length)"
        case .chunked:
            answer.fields[.transferEncoding] = "chunked"
        case .closeDelimited:
            answer.closes = true
        }
    }
}
