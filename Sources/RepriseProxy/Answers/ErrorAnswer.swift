import HTTPSemantics
import HTTPTypes
import Logging
import NIOCore
import Reprise

/// The answer to a request whose read could not begin.
struct ErrorAnswer {
    let context: AnswerContext
    let error: RepriseError
    /// Length of what is sent in place of the representation, if anything is.
    var completeLength: Int64?

    /// Returns whether the connection can take another request.
    func send() async -> Bool {
        if !isWorthARepetition, error.code != .rangeNotSatisfiable, error.code != .invalidArgument {
            context.service.noteFailure(error)
        }
        context.service.log(
            .notice, "request failed",
            ["url": "\(context.resource.url.redacted)", "code": "\(error.code)", "error": "\(error.explanation)"])
        do {
            try await context.writer.write(buffer)
            return context.head.keepsAlive
        } catch {
            return false
        }
    }

    /// Whether the origin failed for now, so that a player should ask again for a file that a playlist lists.
    ///
    /// Players take 404 for final and other errors for the end of the stream, but repeat a request after 503.
    private var isWorthARepetition: Bool {
        guard context.listed != nil else { return false }
        switch error.code {
        case .originUnreachable, .originTimedOut, .networkUnavailable, .originBodyTruncated: return true
        case .originRefused:
            // An origin that says itself when to ask again is repeated.
            guard let refusal = error.refusal else { return false }
            return [500, 502, 503, 504].contains(refusal.head.status.code)
                && (refusal.head.status != .serviceUnavailable || refusal.retryAfter == nil)
        default: return false
        }
    }

    private var buffer: ByteBuffer {
        if isWorthARepetition { return text(503, retryAfter: 1) }
        return switch error.code {
        case .originRefused: error.refusal.map { relay($0) } ?? text(502)
        case .rangeNotSatisfiable: notSatisfiable
        case .originTimedOut where (error.cause as? ConnectionQueueTimeout)?.isLackOfDescriptors == true:
            text(503, retryAfter: 1)
        case .originTimedOut, .notStored: text(504)
        case .originForbidden: text(403)
        case .invalidArgument: text(400)
        case .closed: text(503)
        case .storageUnavailable, .storageFull: text(500)
        default: text(502)
        }
    }

    private func text(_ status: Int, retryAfter seconds: Int? = nil) -> ByteBuffer {
        let isLocal = [.notStored, .closed, .invalidArgument].contains(error.code)
        let origin = CacheStatus.Handling.forwarded(missReason, status: error.refusal?.head.status.code)
        let cache = context.cacheStatus(isLocal ? .unanswered : origin, detail: "\(error.code)")
        let retry = seconds.map { [("Retry-After", "\($0)")] } ?? []
        return text(status, fields: [cache] + retry)
    }

    private func text(_ status: Int, fields: [(String, String)]) -> ByteBuffer {
        OwnAnswer(status: status, fields: fields, text: "\(error.message)\n").buffer(to: context.head)
    }

    /// Why the origin was asked, if there was no response with media.
    private var missReason: CacheStatus.ForwardReason {
        context.stored == nil ? .uriMiss : .miss
    }

    /// RFC 9110 §15.5.17.
    private var notSatisfiable: ByteBuffer {
        let stored = context.stored
        let length = completeLength ?? stored?.information.completeLength ?? error.range?.upperBound
        var fields = length.map { [("Content-Range", "bytes */\($0)")] } ?? []
        let isKnown = stored?.isUsable(for: context.request.directives) ?? false
        fields.append(context.cacheStatus(isKnown ? .hit : .forwarded(missReason)))
        return text(416, fields: fields)
    }

    /// The origin's own answer, unchanged except for its cookies, because it may have been received for another client.
    private func relay(_ refusal: OriginRefusal) -> ByteBuffer {
        var response = refusal.head
        response.headerFields[.contentLength] = "\(refusal.body.count)"
        response.headerFields[.age] = refusal.age.map { "\($0.components.seconds)" } ?? response.headerFields[.age]
        let status =
            refusal.age == nil ? .forwarded(missReason, status: response.status.code) : CacheStatus.Handling.hit
        var body = refusal.body
        if context.head.audience == .player, refusal.wantsDigest {
            context.service.cache.remark(
                "It takes no log-in but Digest, which does not work through a proxy.", about: context.resource.url)
            body = Array(Self.explanationOfDigest.utf8)
            response.headerFields = EditedText.fields(inPlaceOf: response.headerFields)
            response.headerFields[.contentEncoding] = nil
            response.headerFields[.contentType] = "text/plain; charset=utf-8"
            response.headerFields[.contentLength] = "\(body.count)"
        }
        let passed = PassedResponse(
            response, to: context.head, status: CacheStatus(status),
            receivedAt: Int64(context.service.wallClock()) - (refusal.age?.components.seconds ?? 0))
        var buffer = passed.head
        if context.head.method != .head, passed.mayHaveBody { buffer.writeBytes(body) }
        return buffer
    }

    private static let explanationOfDigest = """
        The origin asks for a log-in with Digest, which signs the address that the player knows: the proxy's. Log in \
        with Basic if the origin offers it, or put an Authorization field into a header-file for this host.

        """
}

extension OriginRefusal {
    /// Whether Digest (RFC 7616) is the only authentication scheme that the origin accepts.
    fileprivate var wantsDigest: Bool {
        let challenges = head.headerFields[values: .wwwAuthenticate]
        return head.status == .unauthorized && !challenges.isEmpty
            && challenges.allSatisfy { challenge in
                let text = challenge.lowercased()
                return text.hasPrefix("digest") && !text.contains("basic ") && !text.contains("bearer ")
            }
    }
}
