import NIOCore
import Reprise

/// The rest of a response whose head and beginning were sent as a hit.
struct RestAnswer {
    let context: AnswerContext
    /// The missing bytes, of the representation identified by ``generation``.
    let range: Range<Int64>
    let generation: String

    /// Returns whether the connection can take another request.
    func send() async -> Bool {
        // Nothing may be written between the head and these bytes.
        context.writer.interim.close()
        do {
            let read = try await context.read(.bounded(range))
            defer { read.cancel() }
            guard read.information.generation == generation, read.start == range.lowerBound,
                read.end == range.upperBound
            else {
                throw RepriseError(.validatorChanged, "The file changed before the end of the response.")
            }
            try await context.writer.stream(head: ByteBuffer(), count: range.byteCount) { try await read.next() }
            return context.head.keepsAlive
        } catch {
            context.noteBrokenOff(error)
            return false
        }
    }
}
