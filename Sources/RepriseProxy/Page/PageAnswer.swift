import HTTPSemantics
import NIOCore
import Reprise

/// The answer to a browser that opens the address of the proxy.
struct PageAnswer: Sendable {
    private let head: ClientHead
    private let service: ProxyService

    /// Titles that the page has before its script asks for more.
    private static let titles = 25

    init(to head: ClientHead, from service: ProxyService) { (self.head, self.service) = (head, service) }

    /// The complete answer.
    ///
    /// A page that lacks what cannot be read is of more use than an error.
    func buffer() async -> ByteBuffer {
        let document = PageDocument(
            status: await StatusReport(of: service),
            titles: try? await TitlesReport(TitlesReport.Query(limit: Self.titles), of: service),
            operations: service.configuration.controlOperations.map { $0.name },
            address: service.address(for: head))
        let html = document.html
        var buffer = ByteBuffer()
        buffer.writeStatusLine(200)
        buffer.writeString("Date: \(HTTPDate(secondsSince1970: Int64(service.wallClock())))\r\n")
        buffer.writeStaticString(
            "Content-Type: text/html; charset=utf-8\r\nCache-Control: no-store\r\nVary: Accept\r\n")
        buffer.writeLine("Content-Length: ", number: Int64(html.utf8.count))
        buffer.writeString("Content-Security-Policy: \(PagePolicy.text)\r\n")
        buffer.writeStaticString(PagePolicy.fields)
        Framing(isChunked: false, keepsAlive: head.keepsAlive).write(to: &buffer)
        buffer.writeStaticString("\r\n")
        if head.method != .head { buffer.writeString(html) }
        return buffer
    }
}
