import Primitives

/// The version that each strong entity tag identified; a tag must never identify two.
final class TagBook: Sendable {
    /// A tag from an answer, and the version of its bytes.
    struct Tag: Sendable, Equatable {
        let text: String
        let version: Int
    }

    private struct Key: Hashable {
        let file: Int
        let language: Int
        let text: String
    }

    private static let capacity = 20_000
    private let versions = Mutex<[Key: Int]>([:])

    /// Records the version of a tag; returns another version that it identified before.
    func note(_ tag: Tag, file: Int, language: Int) -> Int? {
        versions.withLock { versions in
            let key = Key(file: file, language: language, text: tag.text)
            if let known = versions[key] { return known == tag.version ? nil : known }
            if versions.count >= Self.capacity { versions = [:] }
            versions[key] = tag.version
            return nil
        }
    }
}
