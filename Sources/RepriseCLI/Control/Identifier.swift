import Reprise

/// What stands for a URL or a key in an operation of those who do not know them, such as the page: `id:` and the `id`
/// of `titles.json` and `status.json`.
struct Identifier {
    private let id: String

    /// `nil` if `text` is no identifier; no URL begins so.
    init?(_ text: String) {
        guard text.hasPrefix("id:") else { return nil }
        id = String(text.dropFirst(3))
    }

    /// The first file of the title that it stands for.
    ///
    /// Throws ``RepriseError`` with code `notStored` if there is none.
    func title(in cache: MediaCache) async throws -> TitleReference {
        if let title = try await cache.reference(id: id) { return title }
        throw RepriseError(.notStored, "Nothing is stored under this identifier any more.")
    }
}
