import HTTPSemantics

/// One request of a client, and the answers it may get.
struct Ask {
    /// The requested bytes.
    enum Wanted: Equatable {
        case all
        case from(Int64)
        case bounded(Range<Int64>)
        case suffix(Int64)
        case several([Range<Int64>])
        /// A range behind the end.
        case beyond

        /// The value of Range.
        var field: String? {
            switch self {
            case .all: nil
            case .from(let start): "bytes=\(start)-"
            case .bounded(let range): "bytes=\(range.lowerBound)-\(range.upperBound - 1)"
            case .suffix(let count): "bytes=-\(count)"
            case .several(let ranges):
                "bytes=" + ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ",")
            case .beyond: "bytes=1000000000000-"
            }
        }

        /// The bytes of one range in a representation of that length; `nil` if there are none.
        func resolve(_ length: Int64) -> Range<Int64>? {
            switch self {
            case .all: 0..<length
            case .from(let start): start < length ? start..<length : nil
            case .bounded(let range):
                range.lowerBound < length ? range.lowerBound..<min(range.upperBound, length) : nil
            case .suffix(let count): max(0, length - count)..<length
            case .several, .beyond: nil
            }
        }
    }

    /// A condition with a tag from an earlier answer.
    enum Condition: Equatable { case none, ifNoneMatch, ifMatch, ifRange }

    /// The requested file; `nil` for a path that no origin has.
    let file: MediaFile?
    var method = "GET"
    var wanted = Wanted.all
    var language = 0
    var condition = Condition.none
    /// The tag of the condition, and the version that it named.
    var tag: TagBook.Tag?
    var closes = false
    /// When it was sent, in seconds of uptime.
    var sent = 0.0

    /// The request as it is sent.
    func text(to origin: FaultyOrigin) -> String {
        let target = origin.target(file?.path ?? "/missing/0.mp4")
        var lines = ["\(method) \(target) HTTP/1.1", "Host: localhost"]
        if let range = wanted.field { lines.append("Range: \(range)") }
        if file?.kind == .varying { lines.append("Accept-Language: \(OriginAnswer.name(ofLanguage: language))") }
        if let tag {
            switch condition {
            case .none: break
            case .ifNoneMatch: lines.append("If-None-Match: \(tag.text)")
            case .ifMatch: lines.append("If-Match: \(tag.text)")
            case .ifRange: lines.append("If-Range: \(tag.text)")
            }
        }
        if closes { lines.append("Connection: close") }
        return lines.joined(separator: "\r\n") + "\r\n\r\n"
    }

    /// For messages.
    var description: String {
        let condition = condition == .none ? "" : " \(condition) \(tag?.text ?? "")"
        return "\(method) \(file?.path ?? "/missing") \(wanted.field ?? "whole")\(condition)"
    }
}

/// What the head of an answer promises.
enum Promise {
    /// Bytes from an offset on, of one of these versions.
    case bytes(from: Int64, of: [Representation])
    /// A multipart/byteranges body of one of these versions.
    case parts(boundary: String, of: [Representation])
    /// No bytes of the file, and correctly so.
    case nothing
    /// An error, which must have its cause at the origin.
    case failure(status: Int)
    /// An invalid head.
    case wrong(String)

    /// Judges a head against the request; `representations` are all that the file has had.
    init(_ head: MessageReader.Head, to ask: Ask, representations: [Representation]) {
        guard let status = head.status else {
            self = .wrong("no status: \(head.line)")
            return
        }
        switch status {
        case 200: self = Self.whole(head, ask, representations)
        case 206: self = Self.partial(head, ask, representations)
        case 304: self = ask.condition == .ifNoneMatch ? .nothing : .wrong("304 without a condition")
        case 404 where ask.file == nil: self = .nothing
        case 412: self = ask.condition == .ifMatch ? .nothing : .wrong("412 without If-Match")
        case 416: self = Self.unsatisfiable(ask, representations)
        case 429, 500...599: self = .failure(status: status)
        default: self = .wrong("status \(status)")
        }
    }

    private static func whole(
        _ head: MessageReader.Head, _ ask: Ask, _ representations: [Representation]
    ) -> Promise {
        if ask.file == nil { return .wrong("200 for what does not exist") }
        let candidates = head["content-length"].map { length in
            representations.filter { "\($0.length)" == length }
        }
        if let candidates, candidates.isEmpty { return .wrong("a length that the file never had") }
        return .bytes(from: 0, of: candidates ?? representations)
    }

    private static func partial(
        _ head: MessageReader.Head, _ ask: Ask, _ representations: [Representation]
    ) -> Promise {
        if ask.wanted == .all { return .wrong("206 without a range") }
        guard let value = head["content-range"] else {
            guard case .several = ask.wanted, let type = head["content-type"],
                type.hasPrefix("multipart/byteranges; boundary=")
            else { return .wrong("206 without Content-Range") }
            return .parts(boundary: String(type.split(separator: "=", maxSplits: 1)[1]), of: representations)
        }
        // The proxy forwards the origin's own response to a player's range unchanged.
        guard let stated = StatedRange(value) else { return .failure(status: 206) }
        let candidates = representations.filter {
            $0.length == stated.completeLength && ask.mayHave(stated.range, $0.length)
        }
        if candidates.isEmpty { return .wrong("206 with \(value), which fits no version") }
        if let length = head["content-length"], length != "\(stated.range.count)" {
            return .wrong("206 with \(value) and Content-Length \(length)")
        }
        if ask.condition == .ifRange || ask.condition == .ifMatch, let tag = ask.tag {
            let named = candidates.filter { $0.version == tag.version }
            let isOther = named.isEmpty || head["etag"].map { $0 != tag.text } ?? false
            if isOther { return .wrong("206 although \(ask.condition) named another version") }
            return .bytes(from: stated.range.lowerBound, of: named)
        }
        return .bytes(from: stated.range.lowerBound, of: candidates)
    }

    private static func unsatisfiable(_ ask: Ask, _ representations: [Representation]) -> Promise {
        if case .several(let ranges) = ask.wanted {
            let isBeyond = representations.contains { version in ranges.allSatisfy { $0.lowerBound >= version.length } }
            return isBeyond ? .nothing : .wrong("416 for ranges that exist")
        }
        return representations.contains { ask.wanted.resolve($0.length) == nil }
            ? .nothing : .wrong("416 for a range that exists")
    }
}

extension Ask {
    /// Whether a 206 with this range of a representation of that length answers the request.
    fileprivate func mayHave(_ range: Range<Int64>, _ length: Int64) -> Bool {
        if case .several(let ranges) = wanted {
            return ranges.contains {
                $0.lowerBound == range.lowerBound && min($0.upperBound, length) == range.upperBound
            }
        }
        return wanted.resolve(length) == range
    }
}

/// A Content-Range with both ends and a complete length.
struct StatedRange {
    let range: Range<Int64>
    let completeLength: Int64

    init?(_ value: String) {
        guard value.hasPrefix("bytes ") else { return nil }
        let numbers = value.dropFirst(6).split { $0 == "-" || $0 == "/" }.map { Int64($0) }
        guard numbers.count == 3, let first = numbers[0], let last = numbers[1], let length = numbers[2],
            first <= last, last < length
        else { return nil }
        range = first..<last + 1
        completeLength = length
    }
}
