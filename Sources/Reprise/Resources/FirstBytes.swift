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

/// Judges whether a response should replace the stored one, based on the index and its first bytes.
///
/// Many origins report errors with status 200. Replacing a stored response is allowed but not required (RFC 9111
/// §4.3.3). If the response is rejected, the stored one remains but is stale.
struct Replacement: Sendable {
    let generation: Generation

    private var record: GenerationRecord { generation.record }

    /// The action for `response`; `.passThrough(.unexpectedNotice)` if a new generation can't be a version of the
    /// stored one.
    ///
    /// The body of `response` still delivers every byte. Rethrows errors from reading the body.
    func judge(_ response: inout OriginResponse, _ action: ResponseAction) async throws -> ResponseAction {
        guard !generation.storedRanges.isEmpty, !record.isInvalidated else { return action }
        let record = record
        var mustCompare = false
        switch action {
        case .newGeneration(let placement, _):
            if record.isMedia, generation.isStored(nil), isLess(placement, than: record), await isKept {
                return .passThrough(.unexpectedNotice)
            }
            guard placement.end != 0 else { return isEndedPlaylist ? .passThrough(.emptyBody) : action }
            mustCompare = record.isMedia || isEndedPlaylist
        case .passThrough(let reason) where !reason.isOfNoVersion: break
        default: return action
        }
        // Without a length, only the end of the body shows whether it is short.
        let fields = response.head.headerFields
        let isUnproven = record.isMedia && fields[.contentLength] == nil && Validators(fields).isEmpty
        let short = isUnproven ? record.identity.shortLength ?? 0 : 0
        guard response.head.status == .ok, mustCompare || short > 0,
            case let stored = await generation.storedBeginning(atMost: Int64(BodyBeginning.length)), !stored.isEmpty
        else { return action }
        let (new, length) = try await response.beginning(atLeast: max(Int(short), BodyBeginning.length))
        if let length, record.isMedia {
            if length == 0 { return .passThrough(.emptyBody) }
            if Int64(length) < short { return .passThrough(.unexpectedNotice) }
        }
        guard mustCompare, !isVersion(new, of: stored, isWhole: length != nil) else { return action }
        return .passThrough(.unexpectedNotice)
    }

    private var isEndedPlaylist: Bool { record.role.map { $0.kind == .playlist && !$0.isLive } ?? false }

    /// Whether a body that begins with `new` may be another version of one that begins with `stored`.
    ///
    /// If it `isWhole`, `new` is the whole body.
    private func isVersion(_ new: [UInt8], of stored: [UInt8], isWhole: Bool) -> Bool {
        if isEndedPlaylist, let planner = generation.engine.configuration.streamPlanner {
            guard planner.beginsPlaylist(stored) else { return true }
            return planner.beginsPlaylist(new) && !(isWhole && planner.namesNothing(new))
        }
        let kind = BodyBeginning(new)
        return kind == .binary || kind == BodyBeginning(stored)
    }

    /// Whether the user keeps the entry: pinned or downloaded, by itself or with a title.
    var isKept: Bool {
        get async {
            // If the index cannot be read, the other rules decide.
            (try? await generation.store.index.look { [generation] in try $0.retentions.isKept(generation.key) })
                ?? false
        }
    }

    /// Whether the new representation is less than half as long, or has no known length.
    ///
    /// Without a length, nothing shows that it has as many bytes.
    private func isLess(_ placement: BodyPlacement, than record: GenerationRecord) -> Bool {
        guard let length = placement.completeLength else { return true }
        return record.completeLength.map { length < $0 / 2 } ?? false
    }
}
