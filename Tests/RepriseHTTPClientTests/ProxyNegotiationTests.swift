import NIOCore
import Reprise
import TestLimits
import Testing

@testable import RepriseHTTPClient

/// What is said to proxies, byte by byte.
@Suite(.limit(minutes: 1)) struct ProxyNegotiationTests {
    private func failures(
        _ proxy: String = "socks5h://proxy.example", _ url: String = "https://media.example:8443/"
    ) throws -> ProxyFailures {
        ProxyFailures(proxy: try OutgoingProxy(proxy), endpoint: Endpoint(try ResourceURL(url)))
    }

    /// What follows when `bytes` arrive at once, and one by one.
    private func steps<D: ProxyNegotiation>(_ negotiation: D, _ bytes: [UInt8]) throws -> [ProxyStep] {
        func run(_ pieces: [ArraySlice<UInt8>]) throws -> [ProxyStep] {
            var (negotiation, buffer, steps) = (negotiation, ByteBuffer(), [ProxyStep]())
            for piece in pieces {
                buffer.writeBytes(piece)
                var step = try negotiation.receive(&buffer)
                while step != .wait {
                    steps.append(step)
                    if step == .finish { break }
                    step = try negotiation.receive(&buffer)
                }
            }
            #expect(buffer.readableBytes == 0 || steps.last != .finish)
            return steps
        }
        let whole = try run([bytes[...]])
        let single = try run(bytes.indices.map { bytes[$0...$0] })
        #expect(whole == single)
        return whole
    }

    private func refusal<D: ProxyNegotiation>(_ negotiation: D, _ bytes: [UInt8]) -> RepriseError? {
        do {
            _ = try steps(negotiation, bytes)
            return nil
        } catch { return error as? RepriseError }
    }

    private func buffer(_ bytes: [UInt8]) -> ByteBuffer { ByteBuffer(bytes: bytes) }

    // MARK: - SOCKS5

    @Test("A name goes to the proxy, without a log-in (RFC 1928)") func socksName() throws {
        let negotiation = SOCKSNegotiation(try failures(), to: .name("media.example"))
        #expect(negotiation.begin() == buffer([5, 1, 0]))
        let request = buffer([5, 1, 0, 3, 13] + Array("media.example".utf8) + [0x20, 0xFB])
        #expect(try steps(negotiation, [5, 0] + [5, 0, 0, 1, 0, 0, 0, 0, 0, 0]) == [.send(request), .finish])
        // Replies with a name and with an address of IPv6.
        #expect(try steps(negotiation, [5, 0] + [5, 0, 0, 3, 2, 97, 98, 0, 80]).last == .finish)
        #expect(try steps(negotiation, [5, 0] + [5, 0, 0, 4] + [UInt8](repeating: 0, count: 18)).last == .finish)
    }

    @Test("User name and password are sent if the proxy asks for them (RFC 1929)") func socksLogin() throws {
        let address = try #require(AddressBytes(literal: "192.0.2.7"))
        let negotiation = SOCKSNegotiation(try failures("socks5://me:p%40ss@proxy.example"), to: .address(address))
        #expect(negotiation.begin() == buffer([5, 2, 0, 2]))
        let login = buffer([1, 2] + Array("me".utf8) + [4] + Array("p@ss".utf8))
        let request = buffer([5, 1, 0, 1, 192, 0, 2, 7, 0x20, 0xFB])
        #expect(try steps(negotiation, [5, 2, 1, 0]) == [.send(login), .send(request)])
        #expect(try steps(negotiation, [5, 0]) == [.send(request)])
        #expect(refusal(negotiation, [5, 2, 1, 1])?.code == .originForbidden)
    }

    @Test("Addresses of IPv6 have 16 bytes") func socksIPv6() throws {
        let address = try #require(AddressBytes(literal: "2001:db8::1"))
        let negotiation = SOCKSNegotiation(try failures(), to: .address(address))
        #expect(try steps(negotiation, [5, 0]) == [.send(buffer([5, 1, 0, 4] + address.bytes + [0x20, 0xFB]))])
    }

    @Test(
        "Each refusal of SOCKS5 says what it means (RFC 1928 §6)",
        arguments: [
            (1, "general failure"), (2, "not allowed by the rules"), (3, "network unreachable"),
            (4, "host unreachable"),
            (5, "connection refused"), (6, "TTL expired"), (7, "command not supported"),
            (8, "kind of address not supported"), (9, "unknown"), (255, "unknown"),
        ] as [(UInt8, String)])
    func socksRefusals(code: UInt8, meaning: String) throws {
        let error = try #require(
            refusal(SOCKSNegotiation(try failures(), to: .name("media.example")), [5, 0, 5, code]))
        #expect(error.code == (code == 2 ? .originForbidden : .originUnreachable))
        #expect(error.cause as? ProxyRefusal == ProxyRefusal(description: "SOCKS5: \(code), \(meaning)"))
        #expect(error.message.contains("socks5h://proxy.example:1080") && error.message.contains("media.example:8443"))
    }

    @Test(
        "What is no SOCKS5 is not taken for it",
        arguments: [[4], [72, 84], [5, 0, 4], [5, 2], [5, 1], [5, 0, 5, 0, 0, 9, 0], [0]] as [[UInt8]])
    func noSOCKS(bytes: [UInt8]) throws {
        let negotiation = SOCKSNegotiation(try failures(), to: .name("media.example"))
        #expect(refusal(negotiation, bytes)?.code == .originMisbehaved)
    }

    @Test("A proxy that wants a log-in is told apart from one that refuses it") func socksWantsLogin() throws {
        let without = refusal(SOCKSNegotiation(try failures(), to: .name("a")), [5, 0xFF])
        #expect(without?.code == .originForbidden && without?.message.contains("wants a log-in") == true)
        let with = refusal(SOCKSNegotiation(try failures("socks5h://u:secret@p"), to: .name("a")), [5, 0xFF])
        #expect(with?.message.contains("refuses the user name") == true)
        #expect(with?.description.contains("secret") == false)
    }

    // MARK: - CONNECT

    @Test("CONNECT names host and port (RFC 9110 §9.3.6)") func connect() throws {
        let negotiation = ConnectNegotiation(try failures("http://u:p@proxy.example"))
        #expect(
            String(buffer: negotiation.begin())
                == "CONNECT media.example:8443 HTTP/1.1\r\nHost: media.example:8443\r\nProxy-Authorization: Basic dTpw\r\n\r\n"
        )
        let plain = ConnectNegotiation(try failures("http://proxy.example", "https://[2001:db8::1]/"))
        #expect(
            String(buffer: plain.begin()) == "CONNECT [2001:db8::1]:443 HTTP/1.1\r\nHost: [2001:db8::1]:443\r\n\r\n")
    }

    @Test(
        "Any 2xx opens the way, after interim responses",
        arguments: [
            "HTTP/1.1 200 Connection established\r\n\r\n", "HTTP/1.0 200\r\nProxy-Agent: x\r\n\r\n",
            "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 204 Yes\r\n\r\n", "HTTP/1.1 200 OK\nX: y\n\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n",
        ])
    func opened(text: String) throws {
        #expect(try steps(ConnectNegotiation(try failures("http://proxy.example")), Array(text.utf8)) == [.finish])
    }

    @Test(
        "A refusal of CONNECT is the proxy's, or says that the origin was not reached",
        arguments: [
            (403, RepriseError.Code.originForbidden), (405, .originForbidden), (407, .originForbidden),
            (502, .originUnreachable), (503, .originUnreachable), (504, .originUnreachable), (302, .originMisbehaved),
        ])
    func refused(status: Int, code: RepriseError.Code) throws {
        let negotiation = ConnectNegotiation(try failures("http://u:secret@proxy.example:3128"))
        let error = refusal(negotiation, Array("HTTP/1.1 \(status) No\r\nContent-Length: 0\r\n\r\n".utf8))
        #expect(error?.code == code)
        #expect(error?.message.contains("http://proxy.example:3128") == true)
        #expect(error?.description.contains("secret") == false)
    }

    @Test("401 is about the log-in, too, as tinyproxy means it") func unauthorized() throws {
        let negotiation = ConnectNegotiation(try failures("http://u:p@proxy.example"))
        let error = refusal(negotiation, Array("HTTP/1.0 401 Unauthorized\r\nServer: tinyproxy/1.11.1\r\n\r\n".utf8))
        #expect(error?.code == .originForbidden)
        #expect(error?.message.contains("refuses the user name or the password") == true)
    }

    @Test("A log-in in another way than Basic is named") func otherLogins() throws {
        let text = "HTTP/1.1 407 No\r\nProxy-Authenticate: Negotiate\r\nproxy-authenticate: NTLM abc\r\n\r\n"
        let error = refusal(ConnectNegotiation(try failures("http://proxy.example")), Array(text.utf8))
        #expect(error?.message.contains("negotiate, ntlm") == true)
    }

    @Test(
        "What is no HTTP is not taken for it",
        arguments: [
            "SSH-2.0-x\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 20 OK\r\n\r\n", "HTTP/1.1 abc\r\n\r\n", "\r\n\r\n",
        ])
    func noHTTP(text: String) throws {
        let negotiation = ConnectNegotiation(try failures("http://proxy.example"))
        #expect(refusal(negotiation, Array(text.utf8))?.code == .originMisbehaved)
    }

    @Test func aHeadWithoutAnEndIsRefused() throws {
        let text = "HTTP/1.1 200 OK\r\nX: " + String(repeating: "x", count: 70_000)
        var (negotiation, bytes) = (ConnectNegotiation(try failures("http://proxy.example")), ByteBuffer(string: text))
        let error = #expect(throws: RepriseError.self) { try negotiation.receive(&bytes) }
        #expect(error?.code == .originMisbehaved)
    }
}
