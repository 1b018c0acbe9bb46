import NIOCore
import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct SentHeadTests {
    @Test(
        arguments: [
            ("HTTP/1.1 200 OK\r\nCache-Status: reprise; hit\r\nA: b\r\n\r\nCache-Status: x\r\n", "reprise; hit"),
            ("HTTP/1.1 200 OK\r\ncache-status: a\r\nCACHE-STATUS:b\r\n\r\n", "a, b"),
            ("HTTP/1.1 200 OK\r\nCache-Statu: a\r\nX-Cache-Status: b\r\n\r\n", nil), ("HTTP/1.1 200 OK\r\n\r\n", nil),
            ("", nil),
        ] as [(String, String?)]) func theCacheStatusIsThatOfTheHead(text: String, value: String?)
    {
        #expect(SentHead.cacheStatus(ByteBuffer(string: text)) == value)
    }
}
