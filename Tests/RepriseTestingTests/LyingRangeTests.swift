import RepriseTesting
import TestLimits
import Testing

@Suite(.limit(minutes: 1))
struct LyingRangeTests {
    /// The response to `bytes=100-199` of a personality.
    private func fetch(_ configure: (inout TestOrigin.Personality) -> Void) async throws -> WireResponse {
        var response: WireResponse?
        try await withClient(TestOrigin.Personality(configure)) { _, client in
            response = try await client.fetch("/a", ["Range: bytes=100-199"])
        }
        return try #require(response)
    }

    @Test("An origin without ranges answers 200 with everything, with or without Accept-Ranges")
    func ignoresRange() async throws {
        let plain = try await fetch {
            $0.ignoresRange = true
            $0.acceptRanges = nil
        }
        #expect(plain.status == 200)
        #expect(plain.body == expected(0..<1000))
        #expect(plain["Accept-Ranges"] == nil)
        let none = try await fetch { $0.acceptRanges = "none" }
        #expect(none["Accept-Ranges"] == "none")
    }

    @Test("The complete length can be unknown or wrong")
    func statedLength() async throws {
        #expect(try await fetch { $0.statedLength = .unknown }["Content-Range"] == "bytes 100-199/*")
        #expect(try await fetch { $0.statedLength = .wrong(4711) }["Content-Range"] == "bytes 100-199/4711")
    }

    @Test("A changed range is named correctly")
    func bentRanges() async throws {
        let later = try await fetch { $0.shiftsStartBy = 50 }
        #expect(later["Content-Range"] == "bytes 150-249/1000")
        #expect(later.body == expected(150..<250))
        let shorter = try await fetch { $0.shorterThanAsked = 30 }
        #expect(shorter["Content-Range"] == "bytes 100-169/1000")
        #expect(shorter.body == expected(100..<170))
        let longer = try await fetch { $0.longerThanAsked = 30 }
        #expect(longer["Content-Range"] == "bytes 100-229/1000")
        #expect(longer.body == expected(100..<230))
    }

    @Test("A changed range stays within the representation and has at least one byte")
    func bentRangesAreClipped() async throws {
        #expect(try await fetch { $0.longerThanAsked = 5000 }["Content-Range"] == "bytes 100-999/1000")
        #expect(try await fetch { $0.shorterThanAsked = 5000 }["Content-Range"] == "bytes 100-100/1000")
        #expect(try await fetch { $0.shiftsStartBy = -5000 }["Content-Range"] == "bytes 0-0/1000")
        #expect(try await fetch { $0.shiftsStartBy = 5000 }["Content-Range"] == "bytes 999-999/1000")
    }

    @Test("Content-Range and body can contradict each other")
    func misstatedEnd() async throws {
        let response = try await fetch { $0.misstatesEndBy = -10 }
        #expect(response["Content-Range"] == "bytes 100-189/1000")
        #expect(response["Content-Length"] == "100")
        #expect(response.body == expected(100..<200))
    }

    @Test("A single range can come as multipart/byteranges")
    func multipart() async throws {
        let response = try await fetch { $0.multipartForSingle = true }
        let frame = "--THIS_STRING_SEPARATES"
        let head = "\(frame)\r\nContent-Type: audio/mpeg\r\nContent-Range: bytes 100-199/1000\r\n\r\n"
        #expect(response.status == 206)
        #expect(response["Content-Type"] == "multipart/byteranges; boundary=THIS_STRING_SEPARATES")
        #expect(response["Content-Range"] == nil)
        #expect(response.body == Array(head.utf8) + expected(100..<200) + Array("\r\n\(frame)--\r\n".utf8))
    }

    @Test("A request without Range can get 206")
    func partialWithoutRange() async throws {
        try await withClient(.init { $0.partialWithoutRange = 5..<15 }) { _, client in
            let response = try await client.fetch("/a")
            #expect(response.status == 206)
            #expect(response["Content-Range"] == "bytes 5-14/1000")
            #expect(response.body == expected(5..<15))
        }
    }

    @Test("416 can come without the length")
    func unsatisfiableWithoutLength() async throws {
        try await withClient(.init { $0.omitsLengthOf416 = true }) { _, client in
            let response = try await client.fetch("/a", ["Range: bytes=1000-"])
            #expect(response.status == 416)
            #expect(response["Content-Range"] == nil)
        }
    }

    @Test("If-Range can be ignored")
    func ignoresIfRange() async throws {
        try await withClient(.init { $0.ignoresIfRange = true }) { _, client async throws in
            #expect(try await client.fetch("/a", ["Range: bytes=0-1", "If-Range: \"old\""]).status == 206)
        }
    }
}
