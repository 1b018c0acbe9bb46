import HTTPTypes
import NIOCore
import RepriseHTTPClient

/// The bytes that an origin sends on a connection, behind the first one, whose lowest bit says whether HEAD was sent.
enum ConnectionTargets {
    private struct Outcome: Equatable {
        var heads: [HTTPResponse] = []
        var body: [UInt8] = []
        var isComplete = false
        var fault: String?
        var oddity: String?
        var leavesConnectionUsable = false
    }

    static func read(_ bytes: [UInt8]) {
        guard let first = bytes.first else { return }
        let method: HTTPRequest.Method = first & 1 == 1 ? .head : .get
        let whole = read([ByteBuffer(bytes: bytes.dropFirst())], method)
        let single = read(bytes.dropFirst().map { ByteBuffer(bytes: [$0]) }, method)
        precondition(whole == single, "where a response is cut changes it")
        guard whole.isComplete, let head = whole.heads.last else { return }
        precondition(!whole.leavesConnectionUsable || whole.oddity == nil)
        // In plain form it is the same response, and nothing in it is tolerated.
        var plain = ByteBuffer(string: "HTTP/1.1 \(head.status.code) \(head.status.reasonPhrase)\r\n")
        for field in head.headerFields {
            plain.writeString("\(field.name.rawName): ")
            field.withUnsafeBytesOfValue { _ = plain.writeBytes($0) }
            plain.writeString("\r\n")
        }
        plain.writeString("\r\n")
        let isChunked = method == .get && head.headerFields[.transferEncoding] != nil
        if isChunked, !whole.body.isEmpty { plain.writeString(String(whole.body.count, radix: 16) + "\r\n") }
        plain.writeBytes(whole.body)
        if isChunked { plain.writeString(whole.body.isEmpty ? "0\r\n\r\n" : "\r\n0\r\n\r\n") }
        let again = read([plain], method)
        precondition(again.fault == nil && again.isComplete && again.oddity == nil, "its plain form is not plain")
        precondition(again.body == whole.body && again.heads == [head], "its plain form is another response")
    }

    private static func read(_ pieces: [ByteBuffer], _ method: HTTPRequest.Method) -> Outcome {
        var (reader, outcome) = (ResponseReader(), Outcome())
        reader.begin(method)
        do {
            for piece in pieces {
                reader.receive(piece)
                while let part = try reader.next() {
                    switch part {
                    case .interim(let head), .head(let head): outcome.heads.append(head)
                    case .body(let piece): outcome.body += Array(piece.readableBytesView)
                    case .end: outcome.isComplete = true
                    }
                }
            }
            if reader.finish() { outcome.isComplete = true }
        } catch {
            outcome.fault = error.description
        }
        outcome.oddity = reader.oddity
        outcome.leavesConnectionUsable = reader.leavesConnectionUsable
        return outcome
    }
}
