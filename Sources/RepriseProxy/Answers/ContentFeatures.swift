import Primitives
import Reprise

/// Remembers which origins were asked for DLNA's `contentFeatures.dlna.org`.
///
/// Origins send it to TVs only, because only they ask for it. It is missing if another player stored the response.
final class ContentFeatures: Sendable {
    /// Maximum number of remembered generations.
    private static let most = 4096

    private let asked = Mutex<Set<String>>([])

    /// Whether the client wants the field, the stored response lacks it, and the origin was not asked for it yet.
    func isMissing(in information: ContentInformation, for head: ClientHead) -> Bool {
        head.wantsContentFeatures && information.fields[.contentFeatures] == nil
            && !asked.withLock { $0.contains(information.generation) }
    }

    /// Requests the field from the origin, once for each generation.
    ///
    /// The client is answered without it if that fails.
    func complete(for context: AnswerContext) async throws {
        guard context.head.wantsContentFeatures, !context.request.directives.onlyIfCached else { return }
        let fields = context.originFields
        guard let stored = try await context.resource.loadStored(fields: fields),
            isMissing(in: stored.information, for: context.head)
        else { return }
        asked.withLock { asked in
            if asked.count >= Self.most { asked = [] }
            asked.insert(stored.information.generation)
        }
        _ = try? await context.resource.head(fields: fields)
    }
}

extension ClientHead {
    fileprivate var wantsContentFeatures: Bool { value("getcontentfeatures.dlna.org") == "1" }
}
