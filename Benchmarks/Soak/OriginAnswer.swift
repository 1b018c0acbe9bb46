import HTTPSemantics

/// An origin's answer: a head, and the bytes that follow it.
struct OriginAnswer {
    var status: Int
    var fields: [(name: String, value: String)] = []
    var representation: Representation?
    /// The bytes of the representation that follow; empty for none.
    var range: Range<Int64> = 0..<0
    var isChunked = false
    /// A body that is not of a file.
    var text: String?

    private static let languages = ["en", "de", "fr"]

    /// The requested language, as a number.
    static func language(_ head: MessageReader.Head) -> Int {
        head["accept-language"].flatMap { languages.firstIndex(of: $0) } ?? 0
    }

    /// The value of Accept-Language for a number.
    static func name(ofLanguage number: Int) -> String { languages[number] }

    /// Answers a GET or HEAD for `file`; with 404 if it is `nil`.
    init(to head: MessageReader.Head, method: String, path: String, file: MediaFile?, fault: Fault) {
        guard let file else {
            self.init(status: 404)
            return
        }
        if case .status(let status) = fault {
            self.init(status: status)
            return
        }
        if path != file.finalPath {
            self.init(status: 302, fields: [("Location", file.finalPath)])
            return
        }
        let language = file.kind == .varying ? Self.language(head) : 0
        let current = file.current(language: language)
        self.init(status: 200, representation: current)
        describe(file)
        let validator = fields.first { $0.name == "ETag" } ?? fields.first { $0.name == "Last-Modified" }
        if let known = head["if-none-match"] ?? head["if-modified-since"], known == validator?.value {
            status = 304
            return
        }
        isChunked = file.kind == .chunked
        let ignoresRange = file.kind == .rangeless || file.kind == .chunked
        let condition = head["if-range"]
        if method == "GET", !ignoresRange, condition == nil || condition == validator?.value,
            let spec = head["range"].flatMap({ RangeField($0) })?.specs.first
        {
            answerRange(spec.resolve(completeLength: current.length), current.length, fault)
        } else {
            range = 0..<current.length
        }
        if !isChunked { fields.append(("Content-Length", "\(range.count)")) }
        if method == "HEAD" { range = 0..<0 }
    }

    /// Answers a GET for a playlist.
    init(to head: MessageReader.Head, list: Scenery.List) {
        fields = [("ETag", list.tag), ("Cache-Control", "max-age=1"), ("Content-Type", list.type)]
        if head["if-none-match"] == list.tag {
            status = 304
        } else {
            status = 200
            text = list.text
            fields.append(("Content-Length", "\(list.text.utf8.count)"))
        }
    }

    private init(
        status: Int, fields: [(name: String, value: String)] = [], representation: Representation? = nil
    ) {
        self.status = status
        self.fields = fields
        self.representation = representation
        if representation == nil { self.fields.append(("Content-Length", "0")) }
    }

    private mutating func describe(_ file: MediaFile) {
        guard let representation else { return }
        let tag = "\"v\(representation.version)-\(representation.seed)\""
        // Versions are an hour apart, so their dates are strong validators.
        let date = HTTPDate(secondsSince1970: 1_735_689_600 + Int64(representation.version) * 3600)
        switch file.kind {
        case .strong, .moved, .rangeless, .chunked, .segment, .premiere: fields.append(("ETag", tag))
        case .dated: fields.append(("Last-Modified", "\(date)"))
        case .weak: fields.append(("ETag", "W/\(tag)"))
        case .bare: break
        case .unstored: fields += [("ETag", tag), ("Cache-Control", "no-store")]
        case .varying: fields += [("ETag", tag), ("Vary", "Accept-Language")]
        case .playlist: fields += [("ETag", tag), ("Cache-Control", "no-cache")]
        }
        let type =
            switch file.kind {
            case .playlist: "application/vnd.apple.mpegurl"
            case .segment: "video/mp2t"
            default: "video/mp4"
            }
        fields.append(("Content-Type", type))
    }

    private mutating func answerRange(_ wanted: Range<Int64>?, _ length: Int64, _ fault: Fault) {
        guard let wanted else {
            status = 416
            fields.append(("Content-Range", "bytes */\(length)"))
            return
        }
        status = 206
        range = wanted
        let shift: Int64 = fault == .shiftedRange ? 1 : 0
        let stated = fault == .shortLength ? wanted.upperBound - 1 : length
        fields.append(
            ("Content-Range", "bytes \(wanted.lowerBound + shift)-\(wanted.upperBound - 1 + shift)/\(stated)"))
    }

    /// The head as it is sent.
    func head(now: Int64) -> String {
        var all = fields
        all.append(("Date", "\(HTTPDate(secondsSince1970: now))"))
        if isChunked { all.append(("Transfer-Encoding", "chunked")) }
        return "HTTP/1.1 \(status) -\r\n" + all.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }
}
