import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// What attackers and broken clients send to the real socket: it is refused, and the process goes on.
@Suite(.limit(minutes: 2)) struct HostileInputTests {
    @Test func everythingHostileIsRefusedAndTheProcessGoesOn() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 64 << 20)
            let outcome = try await Serving.run(site.directory) { serving async throws in
                let host = "Host: localhost\r\n"
                let get = "GET / HTTP/1.1\r\n"
                let many = String(repeating: "a", count: 65_536)
                let hostile: [(name: String, text: String, status: Int)] = [
                    ("a request line of 64 KiB", "GET /\(many) HTTP/1.1\r\n\(host)\r\n", 414),
                    ("a request line without end", "GET /\(many)", 414),
                    ("200 fields", get + host + String(repeating: "A: b\r\n", count: 200) + "\r\n", 431),
                    ("fields without end", get + String(repeating: "A: bcdef\r\n", count: 8_000), 431),
                    ("a field of 128 KiB", "\(get)A: \(many)\(many)", 431),
                    ("no HTTP", "\u{16}\u{3}\u{1}\u{2}\u{0}\u{1}\r\n\r\n", 400),
                    ("a field without colon", "\(get)\(host)nonsense\r\n\r\n", 400),
                    ("lines that end with LF", "GET / HTTP/1.1\n\(host.dropLast(2))\n\n", 400),
                    ("two hosts", "\(get)\(host)\(host)\r\n", 400),
                    ("smuggling", "\(get)\(host)Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc", 400),
                    ("a way out", "GET /http/127.0.0.1/../../etc/passwd HTTP/1.1\r\n\(host)\r\n", 400),
                    ("a way out, encoded", "GET /http/127.0.0.1/%2e%2e/etc/passwd HTTP/1.1\r\n\(host)\r\n", 400),
                    ("a slash for a host", "GET /http/%2Fetc%2Fpasswd HTTP/1.1\r\n\(host)\r\n", 400),
                ]
                for (name, text, status) in hostile {
                    let client = try RawClient(port: serving.port)
                    // The proxy may close before all of it was sent.
                    try? await client.send(text)
                    #expect(try await client.head().status == status, "\(name)")
                }
                #expect(try await serving.get("/").head.status == 200)
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
            #expect(site.origin.snapshot.requestCount == 0)
        }
    }

    @Test func clientsThatVanishOrSayHalfOfItDoNoHarm() async throws {
        try await Site.run { site async throws in
            site.publish("/a.mp4", length: 64 << 20)
            let outcome = try await Serving.run(site.directory) { serving async throws in
                let request = "GET \(site.target("/a.mp4")) HTTP/1.1\r\nHost: localhost\r\n"
                var halfOpen: [RawClient] = []
                for index in 0..<50 {
                    let client = try RawClient(port: serving.port)
                    switch index % 5 {
                    case 0: break
                    case 1: client.disconnect()
                    case 2: try await client.send("GET /ht")
                    case 3: try await client.send("\(request)Range: by")
                    default:
                        try await client.get(site.target("/a.mp4"))
                        #expect(try await client.head().status == 200)
                        _ = try await client.skip(100_000)
                        client.disconnect()
                    }
                    halfOpen.append(client)
                }
                // Requests that come before anybody reads an answer, and whose client then leaves.
                let pipeline = try RawClient(port: serving.port)
                try? await pipeline.send(String(repeating: "\(request)Range: bytes=0-65535\r\n\r\n", count: 500))
                #expect(try await pipeline.head().status == 206)
                pipeline.disconnect()
                let answer = try await serving.get(site.target("/a.mp4"), ["Range: bytes=-5"])
                #expect(answer.head.status == 206)
                #expect(answer.body == TestPattern.bytes(in: (64 << 20) - 5..<64 << 20, seed: 1))
                withExtendedLifetime(halfOpen) {}
            }
            #expect(outcome.exit == .status(0), "\(outcome)")
        }
    }
}
