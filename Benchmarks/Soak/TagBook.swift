import Locks

/// Which version each strong entity tag stood for: one tag must never stand for two.
final class TagBook: Sendable {
    /// A tag that came with an answer, and the version that its bytes were of.
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

    /// Notes what a tag stood for; returns another version that it stood for before.
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
