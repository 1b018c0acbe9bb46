import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives

/// Encodes and decodes the columns of the index that contain records.
///
/// A record is JSON, followed by its XXH64 in a plain cache, because SQLite does not detect flipped bits, or sealed in
/// an encrypted one. Both are bound to their row. A record that fails this check counts as missing.
struct RecordCodec: Sendable {
    let vault: Vault?
    /// Number of decoded records.
    let decoded = Mutex(0)

    init(vault: Vault?) { self.vault = vault }

    /// The JSON; names are short, because there is one record per segment of a stream.
    private struct Fields: Codable {
        var k: String
        var u: String
        var f: [[String]]
        var l: Int64?
        var r: Bool?
        var h: String
        var d: String?
        var q: Int64
        var p: Int64
        var s: StreamRole.Recorded?
        /// The role of the playlist that it replaces, until its own is known; missing otherwise.
        var o: StreamRole.Recorded?
        /// 1 if the body is delimited by the end of the connection and has no validator.
        var e: Int?
    }

    /// The key and the URL of a retained resource.
    struct Target: Codable, Sendable {
        var key: String
        var url: String
        /// Which parts of a stream are downloaded; missing for files.
        var selection: StreamSelection?
        /// How a download derives the keys of a stream's files; missing for a program's own function.
        var keyRule: KeyRule?
    }

    /// The key of a variant and the names of the request fields that it contains.
    struct VariantFields: Codable, Sendable {
        var key: String
        var names: [String]
    }

    struct TitleFields: Codable, Sendable, Equatable {
        var key: String
        var url: String
        /// Whether a playlist lists its files.
        var isStream: Bool
        var name: String?
        var tag: String?

        init(_ title: TitleReference, isStream: Bool) {
            (key, url, self.isStream) = (title.key.text, title.url.description, isStream)
        }
    }

    struct TagFields: Codable, Sendable, Equatable {
        var tag: String
        /// In bytes on disk.
        var limit: Int64
    }

    /// The reason why a download waits or failed.
    struct Failure: Codable, Sendable, Equatable {
        /// The name of the error's code.
        var code: String
        /// A message for people, without queries and field values.
        var message: String
        /// The status with which the origin refused; missing for other errors.
        var status: Int?
        /// The name of the remedy; missing if the code says enough.
        var remedy: String?
    }

    func encode(_ record: GenerationRecord, name: String) throws -> Data {
        let fields = Fields(
            k: record.key.text, u: record.url.description, f: record.fields.map(Self.texts(of:)),
            l: record.completeLength, r: record.rangesSupported, h: record.finalHost,
            d: record.finalURL?.description, q: record.requestTime, p: record.responseTime,
            s: record.role?.recorded,
            o: record.formerRole.flatMap { $0.kind == .playlist ? $0.recorded : nil }, e: record.mayBeLive ? 1 : nil)
        return try close(fields, salt: record.salt, context: Self.context(name, id: record.id))
    }

    func decode(_ data: Data, id: Int64, name: String, salt: [UInt8]) -> GenerationRecord? {
        guard let fields: Fields = open(data, salt: salt, context: Self.context(name, id: id)),
            let url = try? ResourceURL(fields.u), (0...Int64.largestPosition).contains(fields.l ?? 0)
        else { return nil }
        var headers = HTTPFields()
        for field in fields.f.compactMap(Self.field(of:)) { headers.append(field) }
        return GenerationRecord(
            id: id, key: CacheKey(fields.k), url: url, fields: headers, completeLength: fields.l,
            rangesSupported: fields.r, finalHost: fields.h, finalURL: fields.d.flatMap { try? ResourceURL($0) },
            requestTime: fields.q, responseTime: fields.p, salt: salt, mayBeLive: fields.e == 1,
            role: fields.s.flatMap { StreamRole($0) },
            formerRole: fields.o.flatMap { StreamRole($0) })
    }

    /// The name and value of a field, followed by a marker if the value is not valid UTF-8.
    ///
    /// With the marker, each character of the value stands for one byte.
    private static func texts(of field: HTTPField) -> [String] {
        let bytes = field.withUnsafeBytesOfValue { Array($0) }
        guard String(utf8: bytes) == nil else { return [field.name.rawName, field.value] }
        return [field.name.rawName, String(String.UnicodeScalarView(bytes.map { UnicodeScalar($0) })), bytesMark]
    }

    private static func field(of texts: [String]) -> HTTPField? {
        guard texts.count >= 2, let name = HTTPField.Name(texts[0]) else { return nil }
        guard texts.count == 3, texts[2] == bytesMark else { return HTTPField(name: name, value: texts[1]) }
        return HTTPField(name: name, value: texts[1].unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) })
    }

    private static let bytesMark = "bytes"

    func encode(_ target: Target, name: String) throws -> Data {
        try close(target, salt: [], context: "retention \(name)")
    }

    func decodeTarget(_ data: Data, name: String) -> Target? { open(data, salt: [], context: "retention \(name)") }

    func encode(_ variant: VariantFields, name: String) throws -> Data {
        try close(variant, salt: [], context: "selection \(name)")
    }

    func decodeVariant(_ data: Data, name: String) -> VariantFields? {
        open(data, salt: [], context: "selection \(name)")
    }

    func encode(_ title: TitleFields, name: String) throws -> Data {
        try close(title, salt: [], context: "title \(name)")
    }

    func decodeTitle(_ data: Data, name: String) -> TitleFields? {
        open(data, salt: [], context: "title \(name)")
    }

    func encode(_ tag: TagFields, name: String) throws -> Data {
        try close(tag, salt: [], context: "tag \(name)")
    }

    func decodeTag(_ data: Data, name: String) -> TagFields? { open(data, salt: [], context: "tag \(name)") }

    func encode(_ failure: Failure, name: String) throws -> Data {
        try close(failure, salt: [], context: "failure \(name)")
    }

    func decodeFailure(_ data: Data, name: String) -> Failure? {
        open(data, salt: [], context: "failure \(name)")
    }

    private static func context(_ name: String, id: Int64) -> String { "record \(name) \(id)" }

    private func close(_ value: some Encodable, salt: [UInt8], context: String) throws -> Data {
        let json = try JSONEncoder().encode(value)
        if let vault { return try vault.seal(json, salt: salt, context: context) }
        return json + withUnsafeBytes(of: Self.checksum(json, context: context).littleEndian) { Data($0) }
    }

    private func open<T: Decodable>(_ data: Data, salt: [UInt8], context: String) -> T? {
        decoded.withLock { $0 += 1 }
        let json: Data
        if let vault {
            guard let plain = vault.open(data, salt: salt, context: context) else { return nil }
            json = plain
        } else {
            guard data.count > 8 else { return nil }
            json = data.prefix(data.count - 8)
            let expected = withUnsafeBytes(of: Self.checksum(json, context: context).littleEndian) { Data($0) }
            guard data.suffix(8) == expected else { return nil }
        }
        return try? JSONDecoder().decode(T.self, from: json)
    }

    private static func checksum(_ json: Data, context: String) -> UInt64 {
        var hash = XXHash64()
        json.withUnsafeBytes { hash.update($0) }
        Array(context.utf8).withUnsafeBytes { hash.update($0) }
        return hash.digest()
    }
}
