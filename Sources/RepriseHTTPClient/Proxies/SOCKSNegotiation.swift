import NIOCore
import Reprise

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
