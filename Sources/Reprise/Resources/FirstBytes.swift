import HTTPSemantics
import Primitives

/// Detects error messages that are sent in place of media, by the first bytes of a short response.
///
/// Some programs send errors with status 200 and the media type of the missing file. Those responses are passed on and
/// not stored.
struct FirstBytes: Sendable {
    let wanted: ReadRequest
    let planner: (any StreamPlanner)?

    /// Responses of at least this length aren't checked, in bytes.
    private static let shortBody: Int64 = 256 << 10

    /// The action for `response`, if nothing is stored for the resource yet.
    ///
    /// The body of `response` still delivers every byte. Rethrows errors from reading the body.
    func judge(_ response: inout OriginResponse, _ action: ResponseAction) async throws -> ResponseAction {
        guard case .newGeneration(let placement, _) = action, placement.start == 0,
            placement.completeLength ?? 0 < Self.shortBody, wanted.content == nil, !wanted.isForPlaylist
        else { return action }
        let type = MediaType(response.head.headerFields[.contentType])
        guard wanted.origin.url.namesMedia || type?.isDeclaredMedia == true && type?.isPlaylist == false,
            response.head.headerFields.contentCoding == nil, placement.end != 0
        else { return action }
        let (bytes, length) = try await response.beginning(atLeast: BodyBeginning.length)
        let isSegment = wanted.role?.kind == .segment
        switch BodyBeginning(bytes) {
        case nil: return .passThrough(.emptyBody)
        case .text where BodyBeginning.isSubtitle(bytes) || planner?.beginsPlaylist(bytes) == true: return action
        case .text where BodyBeginning.isMarkup(bytes): return .passThrough(.unexpectedNotice)
        case .text where length != nil && Validators(response.head.headerFields).isEmpty && Self.isSentence(bytes):
            return .passThrough(.unexpectedNotice)
        case .picture where wanted.origin.url.namesMedia && !isSegment: return .passThrough(.unexpectedNotice)
        default: return action
        }
    }

    /// Whether a text has more than one word.
    private static func isSentence(_ bytes: [UInt8]) -> Bool {
        bytes.split { (0x09...0x0D).contains($0) || $0 == 0x20 }.count > 1
    }
}

extension OriginResponse {
    /// Reads the first bytes of the body, at least `count` of them, and puts them back.
    ///
    /// Returns the first ``BodyBeginning/length`` bytes, and the length of the body if it is shorter than `count`.
    mutating func beginning(
        atLeast count: Int
    ) async throws -> (bytes: [UInt8], length: Int?) {
        var (taken, bytes, length, hasEnded): ([any ByteChunk], [UInt8], Int, Bool) = ([], [], 0, false)
        while length < count, !hasEnded {
            if let chunk = try await body.next() {
                taken.append(chunk)
                length += chunk.count
                chunk.withUnsafeBytes { bytes += $0.prefix(BodyBeginning.length - bytes.count) }
            } else {
                hasEnded = true
            }
        }
        body = ResumedBody(taken, before: body)
        return (bytes, hasEnded ? length : nil)
    }
}
