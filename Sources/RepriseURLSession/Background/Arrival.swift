import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

/// A response that has come in the background: its head; its body is a file.
struct Arrival: Codable, Sendable {
    let record: TransferRecord
    let verdict: TransferVerdict
    let status: Int
    /// Names and values, in their order.
    let fields: [[String]]
    /// Where it came from, after redirects.
    let url: String
    /// Bytes of the file.
    let length: Int64

    init(
        _ record: TransferRecord, _ verdict: TransferVerdict, _ head: HTTPResponse, from url: ResourceURL, length: Int64
    ) {
        (self.record, self.verdict, self.length) = (record, verdict, length)
        (status, self.url) = (head.status.code, url.description)
        var fields = head.headerFields
        if fields[.date] == nil {
            // It may be hours old when it is read, and would count as new.
            fields[.date] = HTTPDate(secondsSince1970: record.begun).description
        }
        // Cookies stay with the request that brought them.
        fields[.setCookie] = nil
        self.fields = fields.map { [$0.name.rawName, $0.value] }
    }

    /// The head, as it came.
    var head: HTTPResponse {
        var head = HTTPResponse(status: .init(code: status))
        for field in fields where field.count == 2 {
            if let name = HTTPField.Name(field[0]) { head.headerFields.append(HTTPField(name: name, value: field[1])) }
        }
        return head
    }

    /// Whether it says something of the request that was sent, such as of its credentials, and not only of the origin
    /// (RFC 9110 §15.5; RFC 6585 §4).
    var isOfItsRequest: Bool { (400..<500).contains(status) && status != 429 }

    /// Where it came from, after redirects.
    var source: ResourceURL? { try? ResourceURL(url) }

    /// The validator with which the rest of the same representation is asked for; `nil` if there is none.
    var validator: String? {
        switch verdict {
        case .part: record.validator
        case .whole: Validators(head.headerFields).ifRangeValue
        case .changed, .refusal: nil
        }
    }

    /// Which bytes of its representation it has; `nil` if that is of no use.
    var range: Range<Int64>? {
        switch verdict {
        case .part(let range, _): range
        case .whole(let length): 0..<length
        case .changed, .refusal: nil
        }
    }

    private var completeLength: Int64? {
        switch verdict {
        case .part(_, let length): length
        case .whole(let length): length
        case .changed, .refusal: nil
        }
    }

    /// Whether it answers `ask` only with the news that the file is another one by now.
    func showsChange(to ask: TransferAsk) -> Bool { ask.hole != nil && validator != ask.validator }

    /// Whether it has all that a transfer is to bring.
    func replaces(_ transfer: TransferRecord) -> Bool {
        guard record.entry == transfer.entry, let range else { return false }
        guard let part = transfer.range else { return record.range == nil }
        return validator == transfer.validator && range.contains(part.lowerBound) && part.upperBound <= range.upperBound
    }

    /// The head of all its bytes: how many there are is known by now, however they were sent.
    private var headOfAll: HTTPResponse {
        var head = head
        if case .whole = verdict {
            head.headerFields[.transferEncoding] = nil
            head.headerFields[.contentLength] = "\(length)"
        }
        return head
    }

    /// How it answers a request; `nil` if it does not.
    func answer(to ask: TransferAsk) -> (head: HTTPResponse, part: Range<Int64>)? {
        guard record.entry == ask.entry else { return nil }
        let all = 0..<length
        guard let hole = ask.hole else {
            if case .whole = verdict { return (headOfAll, all) }
            return nil
        }
        if validator == ask.validator, let range, range.contains(hole.lowerBound) {
            let part = hole.lowerBound..<min(range.upperBound, hole.upperBound)
            var head = head
            head.status = .partialContent
            head.headerFields[.contentRange] =
                ContentRange.satisfied(part, completeLength: completeLength).description
            head.headerFields[.contentLength] = "\(part.upperBound - part.lowerBound)"
            return (head, part.lowerBound - range.lowerBound..<part.upperBound - range.lowerBound)
        }
        guard record.isOf(ask), validator != ask.validator else { return nil }
        // Says that the file is another one by now; of a part of it nothing can be used.
        guard case .changed = verdict else { return (headOfAll, all) }
        return (HTTPResponse(status: .preconditionFailed), 0..<0)
    }
}

/// The folder in which responses lie that have come in the background, until the engine has stored them.
///
/// Beside each body lies its head, which is written first: a body without a head is none.
struct ArrivalFolder: Sendable {
    private let folder: URL

    private static let (headExtension, bodyExtension) = ("json", "body")

    /// Makes the folder, for this user only, as far as that is possible.
    init(_ folder: URL) {
        self.folder = folder
        var attributes: [FileAttributeKey: Any] = [.posixPermissions: 0o700]
        #if canImport(Darwin)
            // Transfers end while the device is locked.
            attributes[.protectionKey] = FileProtectionType.completeUntilFirstUserAuthentication
        #endif
        try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: attributes)
    }

    /// Where the body of a transfer lies.
    func body(of record: TransferRecord) -> URL { file(record.id.uuidString, Self.bodyExtension) }

    private func head(of record: TransferRecord) -> URL { file(record.id.uuidString, Self.headExtension) }

    private func file(_ name: String, _ pathExtension: String) -> URL {
        folder.appendingPathComponent(name).appendingPathExtension(pathExtension)
    }

    /// Takes over `file`.
    ///
    /// Throws ``RepriseError`` with code `storageFull` or `storageUnavailable`, and then nothing of it is kept.
    func add(_ arrival: Arrival, from file: URL) throws(RepriseError) {
        do {
            try JSONEncoder().encode(arrival).write(to: head(of: arrival.record), options: .atomic)
            try FileManager.default.moveItem(at: file, to: body(of: arrival.record))
        } catch {
            remove(arrival.record)
            throw Failures.keeping(error)
        }
    }

    /// Drops a response.
    func remove(_ record: TransferRecord) {
        // The head last: a body without one is never found again.
        try? FileManager.default.removeItem(at: body(of: record))
        try? FileManager.default.removeItem(at: head(of: record))
    }

    /// What an earlier process has left, and the names of what cannot be read now, such as before the device is
    /// unlocked for the first time; drops what is not whole.
    ///
    /// Only before anything is added.
    func arrivals() -> (arrivals: [Arrival], unread: Set<String>) {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        let heads = files.filter { $0.pathExtension == Self.headExtension }
        let (arrivals, unread) = read(Set(heads.map(Self.name)))
        let names = unread.union(arrivals.map(\.record.id.uuidString))
        for file in files where !names.contains(Self.name(file)) { try? FileManager.default.removeItem(at: file) }
        return (arrivals, unread)
    }

    /// Those of these names that are whole, and the names of those that cannot be read now.
    func read(_ names: Set<String>) -> (arrivals: [Arrival], unread: Set<String>) {
        var (arrivals, unread): ([Arrival], Set<String>) = ([], [])
        for name in names {
            guard let data = try? Data(contentsOf: file(name, Self.headExtension)) else {
                unread.insert(name)
                continue
            }
            guard let arrival = try? JSONDecoder().decode(Arrival.self, from: data),
                Self.length(of: body(of: arrival.record)) == arrival.length
            else { continue }
            arrivals.append(arrival)
        }
        return (arrivals, unread)
    }

    private static func name(_ file: URL) -> String { file.deletingPathExtension().lastPathComponent }

    /// The length of a file; `nil` if there is none.
    static func length(of file: URL) -> Int64? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file.path)
        return (attributes?[.size] as? NSNumber)?.int64Value
    }
}
