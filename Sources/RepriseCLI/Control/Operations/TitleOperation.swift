import Reprise
import RepriseProxy
import RepriseStreams

/// Gives a title a name and a tag, or takes both away.
struct TitleOperation: ControlOperation {
    static let name = "title"
    static let editsTitles = true

    let url: String
    /// What is `nil` stays as it is, unless ``clear`` is set; an empty text is removed.
    let title, tag: String?
    let clear: Bool?
    let names: Names

    struct Outcome: Codable, Sendable {
        /// The URL without its secrets.
        let url: String
        /// What they are now.
        let title, tag: String?
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> Outcome {
        let resource = try await names.resource(of: url, in: cache)
        let before = try await cache.inspecting { try $0.title(of: resource.key) } ?? nil
        func now(_ text: String?, instead former: String?) -> String? {
            let text = clear == true ? nil : text ?? former
            return text == "" ? nil : text
        }
        let (title, tag) = (now(title, instead: before?.name), now(tag, instead: before?.tag))
        try await cache.nameTitle(of: resource, name: title, tag: tag)
        try await cache.learnFiles(of: [resource.key], policy: names.policy)
        return Outcome(url: resource.url.redacted, title: title, tag: tag)
    }
}
