import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// One request that needs more than a look into the store: opens a read and streams it to the client.
///
/// At most one piece is between the read and the socket: a slow client slows its read, and that its fetch.
struct Exchange: Sendable {
    let head: RequestHead
    let resource: MediaResource
    let service: ProxyService
    let channel: any Channel

    /// Answers the request.
    ///
    /// Returns whether the connection can take another.
    func run() async -> Bool {
        do {
            return try await answer()
        } catch let error as RepriseError {
            return await answer(error)
        } catch {
            return false
        }
    }

    private var isHead: Bool { head.method == .head }

    private func answer() async throws -> Bool {
        if isHead { return try await answerHead() }
        let plan = RequestPlan(head, resource.storedInformation)
        guard case .send(var spec) = plan else {
            return try await answer(plan, resource.storedInformation, CacheStatus(.hit))
        }
        var read = try await resource.read(spec, fields: service.originFields(head))
        if RequestPlan.isConditional(head), read.passedThrough == nil {
            let plan = RequestPlan(head, read.information)
            guard case .send(let newSpec) = plan else {
                return try await answer(plan, read.information, status(of: read))
            }
            if newSpec == nil, spec != nil {
                spec = nil
                read = try await resource.read(nil, fields: service.originFields(head))
            }
        }
        if read.end == nil, spec != nil, read.passedThrough == nil {
            // No Content-Range can be given while the length is unknown, and players break on `a-b/*`: send all of it.
            spec = nil
            if read.start > 0 { read = try await resource.read(nil, fields: service.originFields(head)) }
        }
        return try await send(read, isPartial: spec != nil)
    }

    /// 304 or 412 (RFC 9110 §15.4.5, §15.5.13).
    private func answer(
        _ plan: RequestPlan, _ information: ContentInformation?, _ status: CacheStatus
    ) async throws -> Bool {
        var buffer = ByteBuffer()
        let isNotModified = if case .notModified = plan { true } else { false }
        ResponseHead.writeStatus(isNotModified ? 304 : 412, to: &buffer)
        if let information { buffer.writeImmutableBuffer(ResponseHead.commonFields(information)) }
        buffer.writeString("Cache-Status: \(status)\r\n")
        if !isNotModified { buffer.writeString("Content-Length: 0\r\n") }
        try await finish(buffer)
        return head.keepsAlive
    }

    // MARK: - HEAD

    private func answerHead() async throws -> Bool {
        guard let information = resource.storedInformation else { return try await relayHead() }
        if case .send = RequestPlan(head, information) {
            let buffer = ResponseHead.media(
                ResponseHead.commonFields(information), isPartial: false, range: (0, information.completeLength),
                completeLength: information.completeLength, status: CacheStatus(.hit), information: information,
                keepAlive: head.keepsAlive, now: service.wallClock())
            try await finish(buffer)
            return head.keepsAlive
        }
        return try await answer(RequestPlan(head, information), information, CacheStatus(.hit))
    }

    private func relayHead() async throws -> Bool {
        let response = try await resource.head(fields: service.originFields(head))
        try await finish(passedHead(response, status: CacheStatus(.forwarded(.uriMiss, status: response.status.code))))
        return head.keepsAlive
    }

    // MARK: - Bodies

    private func send(_ read: MediaRead, isPartial: Bool) async throws -> Bool {
        let status = status(of: read)
        log(read, isPartial ? 206 : 200, status)
        var buffer: ByteBuffer
        let isChunked: Bool
        let keepAlive: Bool
        if let passed = read.passedThrough {
            isChunked = passed.headerFields[.contentLength] == nil && head.isHTTP11
            keepAlive = head.keepsAlive && (isChunked || passed.headerFields[.contentLength] != nil)
            buffer = passedHead(passed, status: status, keepAlive: keepAlive)
        } else {
            isChunked = read.end == nil && head.isHTTP11
            keepAlive = head.keepsAlive && (read.end != nil || isChunked)
            buffer = ResponseHead.media(
                ResponseHead.commonFields(read.information), isPartial: isPartial, range: (read.start, read.end),
                completeLength: read.information.completeLength, status: status, information: read.information,
                keepAlive: keepAlive, now: service.wallClock())
        }
        if isChunked { buffer.writeStaticString("Transfer-Encoding: chunked\r\n") }
        buffer.writeStaticString("\r\n")
        let isLive = read.disposition != .hit
        if isLive { UnsentLowWater.set(UnsentLowWater.live, on: channel) }
        defer { if isLive { UnsentLowWater.set(UnsentLowWater.none, on: channel) } }
        do {
            try await stream(read, head: buffer, isChunked: isChunked)
        } catch  where error is CancellationError || !channel.isActive {
            return false
        } catch {
            // The head is out: only a broken connection tells the client that the body is not whole (RFC 9112 §8).
            read.cancel()
            service.logger.warning(
                "response broken off", metadata: ["url": "\(resource.url.redacted)", "error": "\(error)"])
            return false
        }
        return keepAlive
    }

    private func stream(_ read: MediaRead, head: ByteBuffer, isChunked: Bool) async throws {
        var pending = head
        var file: SharedFile?
        var stored: Int64 = 0
        while true {
            let storedBefore = stored
            stored = read.servedBytes(from: .store)
            if stored > storedBefore, read.mustWait {
                try await service.configuration.clock.sleep(service.configuration.gracePeriod)
            }
            guard let piece = try await read.next() else { break }
            if isChunked { pending.writeString("\(String(piece.count, radix: 16))\r\n") }
            if pending.readableBytes > 0 { channel.write(IOData.byteBuffer(pending), promise: nil) }
            pending = ByteBuffer()
            let body: IOData
            switch piece {
            case .stored(let region):
                let opened = try file ?? SharedFile(region, generation: read.information.generation)
                file = opened
                body = .fileRegion(opened.region(region.range))
            case .memory(let chunk):
                body = .byteBuffer(service.buffer(of: chunk))
            }
            if isChunked {
                channel.write(body, promise: nil)
                try await channel.writeAndFlush(IOData.byteBuffer(ByteBuffer(string: "\r\n"))).get()
            } else {
                try await channel.writeAndFlush(body).get()
            }
        }
        if isChunked { pending.writeStaticString("0\r\n\r\n") }
        if pending.readableBytes > 0 { try await channel.writeAndFlush(IOData.byteBuffer(pending)).get() }
        withExtendedLifetime(file) {}
    }

    private func status(of read: MediaRead) -> CacheStatus {
        switch read.disposition {
        case .hit: CacheStatus(.hit)
        case .partial: CacheStatus(.forwarded(.partial), isStored: true, isCollapsed: read.isCollapsed)
        case .miss: CacheStatus(.forwarded(.miss), isStored: true, isCollapsed: read.isCollapsed)
        case .unknown: CacheStatus(.forwarded(.uriMiss), isStored: true, isCollapsed: read.isCollapsed)
        case .bypass: CacheStatus(.forwarded(.bypass))
        }
    }

    /// The origin's head as it came, but for what belongs to its hop.
    private func passedHead(_ response: HTTPResponse, status: CacheStatus, keepAlive: Bool? = nil) -> ByteBuffer {
        var buffer = ByteBuffer()
        ResponseHead.writeStatus(response.status.code, to: &buffer)
        var fields = response.headerFields.endToEnd
        fields.append(status)
        for field in fields { ResponseHead.write(field, to: &buffer) }
        if !(keepAlive ?? head.keepsAlive) { buffer.writeStaticString("Connection: close\r\n") }
        return buffer
    }

    private func finish(_ buffer: ByteBuffer) async throws {
        var buffer = buffer
        buffer.writeStaticString("\r\n")
        try await channel.writeAndFlush(IOData.byteBuffer(buffer)).get()
    }

    private func log(_ read: MediaRead, _ code: Int, _ status: CacheStatus) {
        service.logger.info(
            "request",
            metadata: [
                "method": "\(isHead ? "HEAD" : "GET")", "url": "\(resource.url.redacted)",
                "range": "\(head.value("range") ?? "-")",
                "status": "\(read.passedThrough?.status.code ?? code)", "cache": "\(status)",
            ])
    }
}
