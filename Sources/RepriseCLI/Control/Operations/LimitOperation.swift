import Reprise
import RepriseProxy

/// Limits how much the titles with a tag occupy.
struct LimitOperation: ControlOperation {
    typealias Outcome = NoOutcome

    static let name = "limit"
    static let editsTitles = true

    let tag: String
    /// Bytes on disk; `nil` for no limit.
    let limit: Int64?

    private enum Member: String, CodingKey { case tag, limit }

    init(tag: String, limit: Int64?) { (self.tag, self.limit) = (tag, limit) }

    /// A missing limit is an error; only `null` removes the limit.
    init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: Member.self)
        tag = try members.decode(String.self, forKey: .tag)
        limit = try members.decode(Int64?.self, forKey: .limit)
    }

    func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(tag, forKey: .tag)
        try members.encode(limit, forKey: .limit)
    }

    func run(in cache: MediaCache, progress: @escaping @Sendable (NoProgress) -> Void) async throws -> NoOutcome {
        guard limit ?? 0 >= 0 else { throw RepriseError(.invalidArgument, "\"limit\" is a number of bytes.") }
        try await cache.setLimit(limit, forTag: tag)
        return NoOutcome()
    }
}
