import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// The answer to a GET for a decryption key: a download's, from memory, or the origin's, which no disk gets to see.
struct KeyAnswer {
    let context: AnswerContext

    /// Returns whether the connection can take another request.
    ///
    /// Throws only while nothing has been sent.
    func send() async throws -> Bool {
        let fields = context.originFields
        let keys = context.service.streams.keys
        if let key = keys.key(at: context.resource.url, fields: fields, directives: context.request.directives) {
            return try await send(key.bytes, head: key.head, freshness: key.freshness, status: CacheStatus(.hit))
        }
        if let (bytes, information) = try await stored(fields) {
            return try await send(bytes, information: information, status: CacheStatus(.hit))
        }
        guard !context.request.directives.onlyIfCached else {
            throw RepriseError(.notStored, "\(context.resource.url.redacted) is not stored.")
        }
        let response = try await context.resource.bypass(fields: fields)
        defer { response.body.cancel() }
        let status = CacheStatus(.forwarded(.bypass, status: response.head.status.code))
        let cookies = context.cookies(response.head.headerFields, from: response.url)
        // One byte more than the longest key tells that it is none.
        let most = (StreamContent.keyLengths.max() ?? 0) + 1
        var beginning: [UInt8] = []
        while beginning.count < most, let more = try await response.body.next() {
            more.withUnsafeBytes { beginning.append(contentsOf: $0) }
        }
        guard response.head.status == .ok, StreamContent.keyLengths.contains(Int64(beginning.count)) else {
            return try await pass(response, after: beginning, status: status, cookies: cookies)
        }
        keys.hold(beginning, head: response.head, at: context.resource.url, fields: fields)
        return try await send(beginning, head: response.head, status: status, cookies: cookies)
    }

    private func send(
        _ bytes: [UInt8], head: HTTPResponse, freshness: Freshness? = nil, status: CacheStatus,
        cookies: [HTTPField] = []
    ) async throws -> Bool {
        var information = ContentInformation(
            response: head, completeLength: Int64(bytes.count), rangesSupported: true)
        information.freshness = freshness
        return try await send(bytes, information: information, status: status, cookies: cookies)
    }

    private func send(
        _ bytes: [UInt8], information: ContentInformation, status: CacheStatus, cookies: [HTTPField] = []
    ) async throws -> Bool {
        try await MemoryAnswer(
            context: context, text: HeldBytes(bytes), information: information, status: status, cookies: cookies
        ).send()
    }

    /// The key that a download stored, known by its role: good for as long as it is stored, whatever a player asks.
    ///
    /// None in a cache of several users, whose keys are for those who may ask for them.
    private func stored(_ fields: HTTPFields) async throws -> (bytes: [UInt8], information: ContentInformation)? {
        guard !context.service.cache.isShared, let content = await context.resource.stored(fields: fields),
            content.isComplete, content.information.role == .endedSegment,
            StreamContent.keyLengths.contains(content.information.completeLength ?? 0)
        else { return nil }
        var directives = CacheControl()
        (directives.onlyIfCached, directives.maxStale) = (true, .any)
        do {
            let read = context.writer.measured(
                try await context.resource.read(fields: fields, directives: directives))
            defer { read.cancel() }
            var bytes: [UInt8] = []
            while let more = try await read.nextBytes() { bytes += more }
            return (bytes, content.information)
        } catch let error as RepriseError where error.code == .notStored {
            return nil
        }
    }

    /// Hands on what is no key.
    private func pass(
        _ response: OriginResponse, after beginning: [UInt8], status: CacheStatus, cookies: [HTTPField]
    ) async throws -> Bool {
        let passed = context.passed(response.head, status: status, cookies: cookies, from: response.url)
        var first: [UInt8]? = beginning.isEmpty ? nil : beginning
        do {
            try await context.writer.stream(head: passed.head, isChunked: passed.framing.isChunked) {
                guard passed.mayHaveBody else { return nil }
                if let bytes = first {
                    first = nil
                    return .memory(bytes)
                }
                return try await response.body.next().map { .memory($0) }
            }
        } catch {
            return false
        }
        return passed.framing.keepsAlive
    }
}
