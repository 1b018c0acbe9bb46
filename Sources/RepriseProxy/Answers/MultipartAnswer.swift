import HTTPSemantics
import HTTPTypes
import NIOCore
import Reprise

/// Several ranges in one response (RFC 9110 §15.3.7.2): one read after the other, all of one representation.
struct MultipartAnswer {
    private let context: AnswerContext
    private let parts: [RangeSpec]
    private let first: MediaRead
    private let multipart: Multipart

    /// `nil` if consecutive reads might return parts of different representations; they don't if a strong validator
    /// joins them (RFC 9110 §15.3.7.3) or all of them are stored.
    init?(_ parts: [RangeSpec], first: MediaRead, context: AnswerContext) {
        let information = first.information
        let length = information.completeLength ?? 0
        let ranges = parts.compactMap { $0.resolve(completeLength: length) }
        guard ranges.count == parts.count, !information.generation.isEmpty,
            information.validators.ifRangeValue != nil || context.hasStored(parts, of: information)
        else { return nil }
        self.context = context
        self.parts = parts
        self.first = first
        multipart = Multipart(ranges, information: information, completeLength: length)
    }

    /// Returns whether the connection can take another request.
    func send(_ status: CacheStatus) async throws -> Bool {
        context.log(206, cache: status)
        var information = first.information
        information.fields[.contentType] = "multipart/byteranges; boundary=\(multipart.boundary)"
        let response = context.response(.parts(length: multipart.contentLength), of: information, status: status)
        // Until the first byte has arrived, an error can still be reported with its own status.
        let piece = try await first.next()
        do {
            try await send(head: response.head(), firstPiece: piece)
            return response.framing.keepsAlive
        } catch {
            context.noteBrokenOff(error)
            return false
        }
    }

    private func send(head: ByteBuffer, firstPiece: MediaPiece?) async throws {
        var (buffer, piece) = (head, firstPiece)
        for (index, part) in parts.enumerated() {
            let read = index == 0 ? first : try await context.read(part)
            defer { read.cancel() }
            guard read.information.generation == first.information.generation else {
                throw RepriseError(.validatorChanged, "The file changed between two parts.")
            }
            buffer.writeString(multipart.heads[index])
            try await context.writer.stream(head: buffer) {
                if let first = piece {
                    piece = nil
                    return first
                }
                return try await read.next()
            }
            buffer = ByteBuffer()
        }
        try await context.writer.write(ByteBuffer(string: multipart.end))
    }
}

extension AnswerContext {
    /// Whether each of `parts` is stored, verified and usable, and of this representation.
    fileprivate func hasStored(_ parts: [RangeSpec], of information: ContentInformation) -> Bool {
        guard let stored, stored.information.generation == information.generation else { return false }
        return parts.allSatisfy { stored.region($0) != nil }
    }
}
