import NIOCore
import Reprise

/// CONNECT of HTTP; RFC 9110 §9.3.6.
struct ConnectNegotiation: ProxyNegotiation {
    private let failures: ProxyFailures
    /// A longer head is refused.
    private static let mostBytes = 65_536

    init(_ failures: ProxyFailures) { self.failures = failures }

    func begin() -> ByteBuffer {
        let target = failures.endpoint.name
        var head = "CONNECT \(target) HTTP/1.1\r\nHost: \(target)\r\n"
        if let authorization = failures.proxy.authorization { head += "Proxy-Authorization: \(authorization)\r\n" }
        return ByteBuffer(string: head + "\r\n")
    }

    mutating func receive(_ bytes: inout ByteBuffer) throws(RepriseError) -> ProxyStep {
        while let lines = try takeHead(from: &bytes) {
            guard let status = Self.status(lines.first ?? "") else { throw failures.misbehaved("HTTP") }
            switch status {
            case 100..<200: continue  // interim; 101 has no meaning here
            case 200..<300: return .finish
            default: throw refusal(status, fields: lines.dropFirst())
            }
        }
        return .wait
    }

    /// The lines up to an empty one; `nil` if that has not arrived.
    private func takeHead(from bytes: inout ByteBuffer) throws(RepriseError) -> [String]? {
        let view = bytes.readableBytesView
        var (lines, line) = ([String](), [UInt8]())
        for (index, byte) in zip(view.indices, view.prefix(Self.mostBytes)) {
            guard byte == UInt8(ascii: "\n") else {
                line.append(byte)
                continue
            }
            if line.last == UInt8(ascii: "\r") { line.removeLast() }
            if line.isEmpty {
                bytes.moveReaderIndex(to: index + 1)
                return lines
            }
            lines.append(String(decoding: line, as: UTF8.self))
            line = []
        }
        // What does not begin like HTTP will not become it.
        let start = Array("HTTP/1.".utf8)
        guard view.count < Self.mostBytes, view.starts(with: start.prefix(view.count)) else {
            throw failures.misbehaved("HTTP")
        }
        return nil
    }

    private static func status(_ line: String) -> Int? {
        let parts = line.split(separator: " ", maxSplits: 2)
        guard parts.count >= 2, parts[0] == "HTTP/1.1" || parts[0] == "HTTP/1.0", parts[1].utf8.count == 3,
            parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        return Int(parts[1])
    }

    private func refusal(_ status: Int, fields: ArraySlice<String>) -> RepriseError {
        let cause = ProxyRefusal(description: "CONNECT: \(status)")
        switch status {
        case 401, 407:  // 401 by tinyproxy, for a wrong password
            let challenges = fields.filter { $0.lowercased().hasPrefix("proxy-authenticate:") }
            let schemes = challenges.compactMap { line in
                line.dropFirst("proxy-authenticate:".count).split(separator: " ").first.map { $0.lowercased() }
            }
            return failures.login(schemes: schemes, cause: cause)
        case 400..<500: return failures.forbidden(cause: cause)
        case 500..<600: return failures.notReached(cause: cause)
        default: return failures.misbehaved("HTTP")
        }
    }
}
