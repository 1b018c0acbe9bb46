import NIOCore
import Reprise

/// The handshake with a proxy that opens a tunnel to an origin, as a pure value.
protocol ProxyNegotiation: Sendable {
    /// Returns the first message to the proxy.
    mutating func begin() -> ByteBuffer

    /// Consumes the complete messages in `bytes`.
    ///
    /// Throws if the tunnel cannot be opened.
    mutating func receive(_ bytes: inout ByteBuffer) throws(RepriseError) -> ProxyStep
}

/// The next step of a ``ProxyNegotiation``.
enum ProxyStep: Equatable {
    /// More bytes have to arrive.
    case wait
    case send(ByteBuffer)
    /// The tunnel is open; further bytes come from the origin.
    case finish
}

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

/// SOCKS version 5 (RFC 1928) with a user name and a password (RFC 1929), or without.
struct SOCKSNegotiation: ProxyNegotiation {
    /// Where the proxy connects to.
    enum Destination: Sendable, Equatable {
        case address(AddressBytes)
        /// A name, which the proxy resolves.
        case name(String)
    }

    private enum State {
        /// Until the proxy says by which method it wants a log-in.
        case choosing
        case loggingIn
        case connecting
    }

    private let failures: ProxyFailures
    private let destination: Destination
    private var state = State.choosing

    private static let version: UInt8 = 5
    private static let noLogin: UInt8 = 0
    private static let password: UInt8 = 2

    init(_ failures: ProxyFailures, to destination: Destination) {
        (self.failures, self.destination) = (failures, destination)
    }

    func begin() -> ByteBuffer {
        let methods = failures.proxy.login == nil ? [Self.noLogin] : [Self.noLogin, Self.password]
        return ByteBuffer(bytes: [Self.version, UInt8(methods.count)] + methods)
    }

    mutating func receive(_ bytes: inout ByteBuffer) throws(RepriseError) -> ProxyStep {
        if let version = bytes.getInteger(at: bytes.readerIndex, as: UInt8.self) {
            let isRight = if case .loggingIn = state { version == 1 } else { version == Self.version }
            guard isRight else { throw failures.misbehaved("SOCKS5") }
        }
        guard bytes.readableBytes >= 2 else { return .wait }
        switch state {
        case .choosing:
            let method = bytes.readMultipleIntegers(as: (UInt8, UInt8).self)?.1
            return try choose(method ?? .max)
        case .loggingIn:
            let status = bytes.readMultipleIntegers(as: (UInt8, UInt8).self)?.1
            guard status == 0 else {
                throw failures.login(cause: ProxyRefusal(description: "SOCKS5: log-in refused"))
            }
            return connect()
        case .connecting: return try finish(&bytes)
        }
    }

    private mutating func choose(_ method: UInt8) throws(RepriseError) -> ProxyStep {
        switch (method, failures.proxy.login) {
        case (Self.noLogin, _): return connect()
        case (Self.password, let login?):
            state = .loggingIn
            let (user, password) = (Array(login.user.utf8), Array(login.password.utf8))
            return .send(
                ByteBuffer(bytes: [1, UInt8(user.count)] + user + [UInt8(password.count)] + password))
        case (0xFF, _): throw failures.login(cause: ProxyRefusal(description: "SOCKS5: no acceptable method"))
        default: throw failures.misbehaved("SOCKS5")
        }
    }

    private mutating func connect() -> ProxyStep {
        state = .connecting
        var request = ByteBuffer(bytes: [Self.version, 1, 0])
        switch destination {
        case .address(let address):
            request.writeBytes([address.bytes.count == 4 ? 1 : 4] + address.bytes)
        case .name(let name):
            // A host of a URL has at most 255 bytes.
            request.writeBytes([3, UInt8(clamping: name.utf8.count)] + name.utf8.prefix(255))
        }
        request.writeInteger(UInt16(clamping: failures.endpoint.port))
        return .send(request)
    }

    private func finish(_ bytes: inout ByteBuffer) throws(RepriseError) -> ProxyStep {
        let start = bytes.readerIndex
        // A refusal may end after its code.
        guard let code = bytes.getInteger(at: start + 1, as: UInt8.self) else { return .wait }
        guard code == 0 else { throw refusal(code) }
        guard let kind = bytes.getInteger(at: start + 3, as: UInt8.self),
            let first = bytes.getInteger(at: start + 4, as: UInt8.self)
        else { return .wait }
        let length: Int
        switch kind {
        case 1: length = 4
        case 3: length = 1 + Int(first)
        case 4: length = 16
        default: throw failures.misbehaved("SOCKS5")
        }
        // Version, code, reserved byte and kind; then the address, and two bytes of a port.
        return bytes.readSlice(length: 4 + length + 2) == nil ? .wait : .finish
    }

    /// RFC 1928 §6.
    private func refusal(_ code: UInt8) -> RepriseError {
        let words = [
            "general failure", "not allowed by the rules", "network unreachable", "host unreachable",
            "connection refused", "TTL expired", "command not supported", "kind of address not supported",
        ]
        let meaning = words.dropFirst(Int(code) - 1).first ?? "unknown"
        let cause = ProxyRefusal(description: "SOCKS5: \(code), \(meaning)")
        return code == 2 ? failures.forbidden(cause: cause) : failures.notReached(cause: cause)
    }
}
