import NIOCore
import NIOPosix
import Reprise

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Resolves names and address literals, and passes on only addresses that the policy permits.
///
/// No connection to any other address is attempted, so that nothing reveals whether a port inside is open.
final class PublicResolver: Resolver, Sendable {
    private let endpoint: Endpoint
    private let policy: AddressPolicy
    private let addresses4: EventLoopPromise<[SocketAddress]>
    private let addresses6: EventLoopPromise<[SocketAddress]>

    /// Creates a resolver for one endpoint, for a connection on `loop`.
    init(_ endpoint: Endpoint, policy: AddressPolicy, on loop: any EventLoop) {
        self.endpoint = endpoint
        self.policy = policy
        addresses4 = loop.makePromise()
        addresses6 = loop.makePromise()
    }

    /// Called second; the first query brings both answers.
    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> { addresses4.futureResult }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        let loop = addresses6.futureResult.eventLoop
        NIOThreadPool.singleton.runIfActive(eventLoop: loop) { [endpoint, policy] in
            let allowed = try Self.allowed(try Self.lookUp(host, port: port), by: policy, for: endpoint)
            return (v4: allowed.filter { $0.protocol == .inet }, v6: allowed.filter { $0.protocol == .inet6 })
        }.whenComplete { [self] result in
            addresses6.completeWith(result.map(\.v6))
            addresses4.completeWith(result.map(\.v4))
        }
        return addresses6.futureResult
    }

    /// A lookup in progress cannot be canceled.
    func cancelQueries() {}

    /// The addresses to which a connection may be opened.
    ///
    /// Throws `originForbidden` if there are addresses but none of them is permitted.
    static func allowed(
        _ addresses: [SocketAddress], by policy: AddressPolicy, for endpoint: Endpoint
    ) throws(RepriseError) -> [SocketAddress] {
        let allowed = addresses.filter(policy.permits)
        guard allowed.isEmpty, !addresses.isEmpty else { return allowed }
        throw RepriseError(
            .originForbidden,
            "\(endpoint.name) is at an address outside the public internet, which this cache does not fetch from. Who runs "
                + "it can allow that: reprise serve --allow-private.")
    }

    /// Asks the system, and blocks until it answers.
    private static func lookUp(_ host: String, port: Int) throws -> [SocketAddress] {
        var hints = addrinfo()
        hints.ai_protocol = CInt(IPPROTO_TCP)
        var list: UnsafeMutablePointer<addrinfo>?
        let failure = getaddrinfo(host, nil, &hints, &list)
        guard failure == 0 else { throw LookupFailure(number: failure) }
        defer { freeaddrinfo(list) }
        var addresses: [SocketAddress] = []
        var next = list
        while let info = next?.pointee {
            // By its text form, because NIO imports the socket structures from a module of its own.
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            if getnameinfo(
                info.ai_addr, info.ai_addrlen, &text, socklen_t(text.count), nil, 0, NI_NUMERICHOST) == 0
            {
                let bytes = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
                addresses.append(try SocketAddress(ipAddress: String(decoding: bytes, as: UTF8.self), port: port))
            }
            next = info.ai_next
        }
        return addresses
    }

    /// The error for a name without an address.
    private struct LookupFailure: Error, CustomStringConvertible {
        let number: CInt

        var description: String { String(cString: gai_strerror(number)) }
    }
}
