import HTTPSemantics
import RepriseTesting

/// One response that contains one invalid number.
///
/// The file is the test pattern without end, so that a byte at its declared offset is right, wherever that is. Bytes
/// without an offset are ``poison``.
struct HostileResponse: Sendable {
    /// Where the number appears.
    enum Field: CaseIterable, Sendable {
        case contentLength, firstPosition, lastPosition, completeLength, unsatisfiedLength
        case age, maxAge, sharedMaxAge, staleWhileRevalidate, staleIfError, retryAfter
        case chunkSize, locationPort, lastModifiedYear, expiresYear, dateYear
    }

    let field: Field
    let number: String

    /// Length of the file unless the number states another.
    static let length: Int64 = 1000
    /// Bytes that must never reach a client or the store.
    static let poison = [UInt8](repeating: 0xEE, count: 64)

    /// Numbers near 2^31, 2^53 and 2^63, in every notation.
    static let numbers: [String] = {
        let exact = [
            ["2147483647", "2147483648", "2147483649"],
            ["9007199254740991", "9007199254740992", "9007199254740993"],
            ["9223372036854775807", "9223372036854775808", "9223372036854775809"],
        ]
        return exact.flatMap { $0 + ["-\($0[1])", "+\($0[0])", "000000\($0[0])"] }
            + ["", "-1", "0", "18446744073709551615", "18446744073709551616", String(repeating: "9", count: 100)]
    }()

    /// The bytes on the wire.
    func bytes(for request: HostileOrigin.Request) -> [UInt8] {
        var head = self.head(for: request)
        head.lines.append("Content-Type: video/mp4")
        head.lines.append("ETag: \"v1\"")
        let text = ([head.status] + head.lines).joined(separator: "\r\n") + "\r\n\r\n"
        return Array(text.utf8) + (request.isHead ? [] : head.body)
    }

    private struct Head {
        var status = "HTTP/1.1 200 OK"
        var lines: [String] = []
        var body: [UInt8] = []
    }

    private func head(for request: HostileOrigin.Request) -> Head {
        switch field {
        case .contentLength:
            var head = honest(request)
            head.lines.removeAll { $0.hasPrefix("Content-Length") }
            head.lines.append("Content-Length: \(number)")
            return head
        case .firstPosition: return part(number, Int64(number).map { "\($0 &+ 9)" } ?? "9", "*")
        case .lastPosition: return part("0", number, "*")
        case .completeLength: return part("0", "1", number)
        case .unsatisfiedLength:
            return Head(
                status: "HTTP/1.1 416 Range Not Satisfiable",
                lines: ["Content-Range: bytes */\(number)", "Content-Length: 0"])
        case .retryAfter:
            return Head(
                status: "HTTP/1.1 503 Service Unavailable", lines: ["Retry-After: \(number)", "Content-Length: 5"],
                body: Array("later".utf8))
        case .locationPort:
            return Head(
                status: "HTTP/1.1 302 Found", lines: ["Location: http://127.0.0.1:\(number)/a", "Content-Length: 0"])
        case .chunkSize:
            let data = TestPattern.bytes(in: 0..<Self.length, seed: 1)
            return Head(lines: ["Transfer-Encoding: chunked"], body: Array("\(number)\r\n".utf8) + data)
        case .age: return honest(request, "Age: \(number)")
        case .maxAge: return honest(request, "Cache-Control: max-age=\(number)")
        case .sharedMaxAge:
            return honest(request, "Cache-Control: s-maxage=\(number)", "CDN-Cache-Control: s-maxage=\(number)")
        case .staleWhileRevalidate:
            return honest(
                request, "Cache-Control: max-age=1, stale-while-revalidate=\(number)",
                "CDN-Cache-Control: stale-while-revalidate=\(number)")
        case .staleIfError:
            return honest(
                request, "Cache-Control: max-age=1, stale-if-error=\(number)",
                "CDN-Cache-Control: stale-if-error=\(number)")
        case .lastModifiedYear: return honest(request, "Last-Modified: Wed, 01 Jan \(number) 00:00:00 GMT")
        case .expiresYear: return honest(request, "Expires: Wed, 01 Jan \(number) 00:00:00 GMT")
        case .dateYear: return honest(request, "Date: Wed, 01 Jan \(number) 00:00:00 GMT")
        }
    }

    /// The correct answer, with further fields.
    private func honest(_ request: HostileOrigin.Request, _ fields: String...) -> Head {
        guard let spec = request.range?.single, let range = spec.resolve(completeLength: Self.length) else {
            return Head(
                lines: ["Content-Length: \(Self.length)"] + fields,
                body: TestPattern.bytes(in: 0..<Self.length, seed: 1))
        }
        let place = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(Self.length)"
        return Head(
            status: "HTTP/1.1 206 Partial Content",
            lines: ["Content-Range: \(place)", "Content-Length: \(range.upperBound - range.lowerBound)"] + fields,
            body: TestPattern.bytes(in: range, seed: 1))
    }

    /// A chunked 206 whose body continues beyond its declared end.
    private func part(_ first: String, _ last: String, _ completeLength: String) -> Head {
        let declared = Self.declared(first, last)
        let data = declared.map { TestPattern.bytes(in: $0.prefix(4000), seed: 1) } ?? []
        // If more bytes are declared than can be sent, no surplus is sent.
        let isWhole = declared.map { $0.upperBound - $0.lowerBound <= 4000 } ?? true
        let body = isWhole ? data + (0..<64).flatMap { _ in Self.poison } : data
        let chunks = Array("\(String(body.count, radix: 16))\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8)
        return Head(
            status: "HTTP/1.1 206 Partial Content",
            lines: ["Content-Range: bytes \(first)-\(last)/\(completeLength)", "Transfer-Encoding: chunked"],
            body: chunks)
    }

    private static func declared(_ first: String, _ last: String) -> Range<Int64>? {
        guard let first = Int64(first), let last = Int64(last), first >= 0, first <= last, last < .max else {
            return nil
        }
        return first..<last + 1
    }
}

extension Range<Int64> {
    /// The first `count` positions, fewer if there are not so many.
    fileprivate func prefix(_ count: Int64) -> Range<Int64> {
        lowerBound..<lowerBound + Swift.min(count, upperBound - lowerBound)
    }
}
