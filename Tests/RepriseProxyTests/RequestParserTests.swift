import NIOCore
import RepriseTesting
import Testing

@testable import RepriseProxy

/// Request heads: RFC 9112, and attacks on it.
@Suite struct RequestParserTests {
    private func parse(_ text: String) throws(Refusal) -> ClientHead? {
        var parser = RequestParser()
        parser.append(ByteBuffer(string: text))
        return try parser.next()
    }

    @Test("a plain request (RFC 9112 §3)")
    func plain() throws {
        let head = try #require(try parse("GET /a?b=c HTTP/1.1\r\nHost: x\r\nRaNgE:  bytes=0-1 \t\r\nX: \r\n\r\n"))
        #expect(head.method == .get)
        #expect(head.target == "/a?b=c")
        #expect(head.isHTTP11)
        #expect(head.value("range") == "bytes=0-1")
        #expect(head.value("x") == "")
        #expect(head.value("y") == nil)
        #expect(head.keepsAlive)
    }

    @Test("bytes beyond ASCII in a target are percent-encoded as they came")
    func bytesBeyondASCII() throws {
        for (bytes, target) in [(Array("/caf\u{E9}?q=\u{E9}".utf8), "/caf%C3%A9?q=%C3%A9"), ([0x2F, 0xE9], "/%E9")] {
            var parser = RequestParser()
            parser.append(ByteBuffer(bytes: Array("GET ".utf8) + bytes + Array(" HTTP/1.1\r\nHost: x\r\n\r\n".utf8)))
            #expect(try parser.next()?.target == target)
        }
    }

    @Test("several fields of one name are one list (RFC 9110 §5.3)")
    func repeatedFields() throws {
        let head = try #require(try parse("GET / HTTP/1.1\r\nHost: x\r\nA: 1\r\na: 2\r\n\r\n"))
        #expect(head.value("a") == "1, 2")
        #expect(head.count("a") == 2)
        #expect(head.fields.count == 3)
    }

    @Test("HTTP/1.0 closes unless asked not to (RFC 9112 §9.3)")
    func persistence() throws {
        #expect(try parse("GET / HTTP/1.0\r\n\r\n")?.keepsAlive == false)
        #expect(try parse("GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n")?.keepsAlive == true)
        #expect(try parse("GET / HTTP/1.1\r\nConnection: Close\r\n\r\n")?.keepsAlive == false)
    }

    @Test(
        "malformed heads are refused",
        arguments: [
            ("GET /\r\n\r\n", 400), ("GET  HTTP/1.1\r\n\r\n", 400), (" GET / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/1.1\nHost: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nHost: x\n\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n folded: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA : x\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\n: x\r\n\r\n", 400), ("GET / HTTP/1.1\r\nA\r\n\r\n", 400),
            ("GET / HTTP/1.1\r\nA: \u{0}\r\n\r\n", 400), ("GET /\u{7F} HTTP/1.1\r\n\r\n", 400),
            ("G@T / HTTP/1.1\r\n\r\n", 400),
            ("GET / HTTP/2.0\r\n\r\n", 505), ("GET / FTP/1.1\r\n\r\n", 400),
        ])
    func malformed(text: String, status: Int) {
        #expect { try parse(text) } throws: { ($0 as? Refusal)?.status == status }
    }

    @Test(
        "heads that the fuzzer found are refused",
        arguments: [
            ("G\n\r\n\n\r\nTR\r\n\r\n", 400), ("&&e: otG: \r\n\r\n", 400), ("``GhG~T /` u?0\r\n\r\n", 400),
            ("e: \"x\"\r\n\r\nHEAD / HTTP/1.0\r\n\r\n", 400), ("G+T  ]f\"\r\n\r\nYYT  ?0\r\n\rR\r^o\r\n\r\n", 400),
            ("T /ht/a%3e?b HTTP/1.1\r\nHtst: lgy\t\t\u{0}Ra.0\r\n\r\n", 400),
            ("GET /htt$1. HTTP/1.1\r\nHos$$\u{3}$$)n: \"x\"\r\n\r\nG", 400),
            ("GET ma%2e?b HTTP/1.1\r\nHos\\: \"/AE /\r\n\r\n", 400),
            ("GET /https/examom/a%2e?b HTTP/1.1\r\nHo /TPH/1.0\rt\n: x\r\n\r\n", 400),
            ("^^^^##\u{1}0\u{3} t\u{1}%1e T0\r\n\r\n", 400), ("T / HTTP/1.2\r\nHost: x\r\n\r\n", 505),
        ])
    func fuzzed(text: String, status: Int) {
        #expect { try parse(text) } throws: { ($0 as? Refusal)?.status == status }
    }

    @Test func everythingHasALimit() {
        let longLine = "GET /" + String(repeating: "a", count: RequestParser.maximumLine) + " HTTP/1.1\r\n\r\n"
        #expect { try parse(longLine) } throws: { ($0 as? Refusal)?.status == 414 }
        #expect { try parse(String(longLine.dropLast(4))) } throws: { ($0 as? Refusal)?.status == 414 }
        let manyFields =
            "GET / HTTP/1.1\r\n" + String(repeating: "A: b\r\n", count: RequestParser.maximumFields + 1) + "\r\n"
        #expect { try parse(manyFields) } throws: { ($0 as? Refusal)?.status == 431 }
        let longHead = "GET / HTTP/1.1\r\nA: " + String(repeating: "a", count: RequestParser.maximumHead)
        #expect { try parse(longHead) } throws: { ($0 as? Refusal)?.status == 431 }
    }

    @Test func theWayTheBytesArriveDoesNotMatter() throws {
        let text = "\r\nGET /one HTTP/1.1\r\nHost: x\r\n\r\nHEAD /two HTTP/1.1\r\nHost: y\r\n\r\n"
        for step in 1...text.utf8.count {
            var parser = RequestParser()
            var targets: [String] = []
            let bytes = Array(text.utf8)
            for start in stride(from: 0, to: bytes.count, by: step) {
                parser.append(ByteBuffer(bytes: bytes[start..<min(start + step, bytes.count)]))
                while let head = try parser.next() { targets.append(head.target) }
            }
            #expect(targets == ["/one", "/two"], "in steps of \(step)")
            #expect(parser.bufferedBytes == 0)
        }
    }

    @Test func mutatedHeadsNeverTrap() {
        var generator = SeededGenerator(seed: 20_261_121)
        let seeds = [
            "GET /https/host/path?x=1 HTTP/1.1\r\nHost: localhost\r\nRange: bytes=0-\r\n\r\n",
            "HEAD / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
        ].map { Array($0.utf8) }
        for _ in 0..<20_000 {
            var bytes = seeds[Int.random(in: 0..<seeds.count, using: &generator)]
            for _ in 0...Int.random(in: 0..<4, using: &generator) {
                let index = Int.random(in: 0..<bytes.count, using: &generator)
                switch Int.random(in: 0..<3, using: &generator) {
                case 0: bytes[index] = UInt8.random(in: .min ... .max, using: &generator)
                case 1: bytes.remove(at: index)
                default: bytes.insert(contentsOf: [13, 10], at: index)
                }
            }
            var parser = RequestParser()
            parser.append(ByteBuffer(bytes: bytes))
            guard let head = try? parser.next() else { continue }
            _ = head.fields
            _ = MediaRequest(head).ranges
            _ = try? Route(target: head.target, token: nil)
        }
    }
}
