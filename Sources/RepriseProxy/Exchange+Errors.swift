import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

extension Exchange {
    /// Answers a request whose read could not begin.
    func answer(_ error: RepriseError) async -> Bool {
        interim.close()
        service.log(
            .notice, "request failed",
            ["url": "\(resource.url.redacted)", "error": "\(error.code): \(error.message)"])
        let buffer: ByteBuffer
        switch error.code {
        case .originRefused: buffer = relay(error)
        case .rangeNotSatisfiable: buffer = notSatisfiable(error)
        case .originTimedOut, .notStored: buffer = text(504, error)
        case .originForbidden: buffer = text(403, error)
        case .invalidArgument: buffer = text(400, error)
        case .closed: buffer = text(503, error)
        case .storageUnavailable, .storageFull: buffer = text(500, error)
        default: buffer = text(502, error)
        }
        do {
            try await channel.writeAndFlush(IOData.byteBuffer(buffer)).get()
            return head.keepsAlive
        } catch {
            return false
        }
    }

    private func text(_ status: Int, _ error: RepriseError) -> ByteBuffer {
        let isLocal = [.notStored, .closed, .invalidArgument].contains(error.code)
        let cache = CacheStatus(isLocal ? .unanswered : .forwarded(missReason), detail: "\(error.code)")
        return ResponseHead.text(
            status, "\(error.message)\n", fields: [("Cache-Status", "\(cache)")], audience: head.audience,
            keepAlive: head.keepsAlive, isHead: head.method == .head)
    }

    /// Why the origin was asked, where that did not come to a response of media.
    private var missReason: CacheStatus.ForwardReason { resource.storedInformation == nil ? .uriMiss : .miss }

    /// RFC 9110 §15.5.17.
    private func notSatisfiable(_ error: RepriseError) -> ByteBuffer {
        let length = resource.storedInformation?.completeLength ?? error.range?.upperBound
        var fields = length.map { [("Content-Range", "bytes */\($0)")] } ?? []
        let isKnown = resource.usableInformation(head.directives) != nil
        fields.append(("Cache-Status", "\(CacheStatus(isKnown ? .hit : .forwarded(missReason)))"))
        return ResponseHead.text(
            416, "\(error.message)\n", fields: fields, audience: head.audience, keepAlive: head.keepsAlive)
    }

    /// The origin's own answer, as it came; without its cookies, as it may have come for another client.
    private func relay(_ error: RepriseError) -> ByteBuffer {
        guard let refusal = error.refusal else { return text(502, error) }
        var buffer = ByteBuffer()
        let code = refusal.head.status.code
        ResponseHead.writeStatus(code, to: &buffer)
        var fields = refusal.head.headerFields.endToEnd.handedOn(to: head.audience)
        fields[.setCookie] = nil
        fields[.contentLength] = "\(refusal.body.count)"
        ResponseHead.frame(&fields, status: code)
        if let age = refusal.age {
            fields[.age] = "\(age)"
            fields.append(CacheStatus(.hit))
        } else {
            fields.append(CacheStatus(.forwarded(missReason, status: refusal.head.status.code)))
        }
        fields.addOwn(receivedAt: Int64(service.wallClock()) - (refusal.age ?? 0))
        for field in fields { ResponseHead.write(field, to: &buffer) }
        head.audience.writeGuards(beside: fields, to: &buffer)
        buffer.writeString(head.keepsAlive ? "\r\n" : "Connection: close\r\n\r\n")
        if head.method != .head, ResponseHead.mayHaveBody(code) { buffer.writeBytes(refusal.body) }
        return buffer
    }
}

extension HTTPFields {
    /// Adds what a proxy adds to a head that it hands on: itself, and the time at which the response came where the origin
    /// told none (RFC 9110 §6.6.1).
    mutating func addOwn(receivedAt time: Int64) {
        if self[.date] == nil { self[.date] = HTTPDate(secondsSince1970: time).description }
        if let via = HTTPField.Name("Via") { append(HTTPField(name: via, value: ProxyService.via)) }
    }
}
