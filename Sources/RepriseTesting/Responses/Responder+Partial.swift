internal import HTTPTypes

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
