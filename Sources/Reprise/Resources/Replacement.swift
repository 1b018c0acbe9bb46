import HTTPSemantics

/// Judges whether a response should replace the stored one, based on the index and its first bytes.
///
/// Many origins report errors with status 200. Replacing a stored response is allowed but not required (RFC 9111
/// §4.3.3). If the response is rejected, the stored one remains but is stale.
struct Replacement: Sendable {
    let generation: LiveGeneration

    private var record: GenerationRecord { generation.record }

    /// The action for `response`; `.passThrough(.unexpectedNotice)` if a new generation can't be a version of the
    /// stored one.
    ///
    /// The body of `response` still delivers every byte. Rethrows errors from reading the body.
    func judge(_ response: inout OriginResponse, _ action: ResponseAction) async throws -> ResponseAction {
        guard case .newGeneration(let placement, _) = action, !generation.storedRanges.isEmpty, !record.isInvalidated
        else { return action }
        let record = record
        if record.isMedia, generation.isStored(nil), isKept, isLess(placement, than: record) {
            return .passThrough(.unexpectedNotice)
        }
        let isEndedPlaylist = record.role.map { $0.kind == .playlist && !$0.isLive } ?? false
        guard response.head.status == .ok, placement.end != 0, record.isMedia || isEndedPlaylist,
            case let stored = await generation.storedBeginning(atMost: Int64(BodyBeginning.length)), !stored.isEmpty,
            let new = try await Self.beginning(of: &response)
        else { return action }
        return isVersion(new, of: stored, isPlaylist: isEndedPlaylist) ? action : .passThrough(.unexpectedNotice)
    }

    /// Whether a body that begins with `new` may be another version of one that begins with `stored`.
    private func isVersion(_ new: [UInt8], of stored: [UInt8], isPlaylist: Bool) -> Bool {
        if isPlaylist, let planner = generation.engine.configuration.streamPlanner {
            return planner.beginsPlaylist(new) || !planner.beginsPlaylist(stored)
        }
        let kind = BodyBeginning(new)
        return kind == .binary || kind == BodyBeginning(stored)
    }

    /// Whether the user keeps the entry: pinned or downloaded, by itself or with a title.
    var isKept: Bool {
        // If the index cannot be read, the other rules decide.
        (try? generation.store.index.isKept(generation.key)) ?? false
    }

    /// Whether the new representation is less than half as long, or has no known length.
    ///
    /// Without a length, nothing shows that it has as many bytes.
    private func isLess(_ placement: BodyPlacement, than record: GenerationRecord) -> Bool {
        guard let length = placement.completeLength else { return true }
        return record.completeLength.map { length < $0 / 2 } ?? false
    }

    /// Reads the first bytes of the body and puts them back.
    private static func beginning(of response: inout OriginResponse) async throws -> [UInt8]? {
        var (taken, bytes): ([any ByteChunk], [UInt8]) = ([], [])
        while bytes.count < BodyBeginning.length, let chunk = try await response.body.next() {
            taken.append(chunk)
            chunk.withUnsafeBytes { bytes += $0.prefix(BodyBeginning.length - bytes.count) }
        }
        response.body = ResumedBody(taken, before: response.body)
        return bytes.isEmpty ? nil : bytes
    }
}
