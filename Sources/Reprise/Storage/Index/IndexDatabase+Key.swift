import Foundation
import GRDB

/// Comparing the key of an index with that of an opening.
extension IndexDatabase {
    enum KeyDifference: Sendable {
        /// The index is encrypted, and there is no key.
        case missing
        /// The index is not encrypted, and there is a key.
        case unneeded
        /// The index is encrypted with another key.
        case other

        /// `nil` if the keys match.
        ///
        /// `made` is the ``Vault/check`` of the key that the cache was made with; `nil` for a plain cache.
        init?(made: Data?, given vault: Vault?) {
            switch (made, vault?.check) {
            case (nil, nil): return nil
            case (nil, .some): self = .unneeded
            case (.some, nil): self = .missing
            case (let made?, let given?):
                if made == given { return nil }
                self = .other
            }
        }

        var error: RepriseError {
            let message =
                switch self {
                case .missing: "The cache is encrypted: give its key, or choose another directory."
                case .unneeded: "The cache is not encrypted: leave the key out, or choose another directory."
                case .other:
                    "The cache is encrypted with another key: give that one, or choose another directory."
                }
            return RepriseError(.keyUnavailable, message)
        }
    }

    static func holdings(in database: Database) throws -> Holdings {
        func count(_ table: String) throws -> Int {
            try Int.fetchOne(database, sql: "SELECT COUNT(*) FROM \(table)") ?? 0
        }
        return Holdings(
            entries: try max(count("entry"), count("generation")),
            storedBytes: try EntryStore.usage(in: database).stored,
            holds: try count("retention"))
    }

    /// Throws if the index does not say whether it is encrypted.
    static func isSealed(_ database: Database) throws -> Bool {
        guard let value = try Int.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'sealed'") else {
            throw Unusable(reason: "it does not say whether it is encrypted")
        }
        return value != 0
    }

    /// Compares the key of the index with that of `vault`, which is `nil` without a key; `nil` if they match.
    static func keyDifference(_ database: Database, vault: Vault?) throws -> KeyDifference? {
        guard try isSealed(database) else { return KeyDifference(made: nil, given: vault) }
        let check = try Data.fetchOne(database, sql: "SELECT value FROM state WHERE name = 'check'")
        return KeyDifference(made: check ?? Data(), given: vault)
    }

    /// An index that was made with another key.
    struct Foreign: Sendable {
        let difference: KeyDifference
        let holdings: Holdings

        /// Whether the opening is refused.
        ///
        /// An index without entries may be replaced under any key.
        ///
        /// An encrypted index is always refused without a key, because new bytes would be stored unencrypted.
        var isRefused: Bool { difference == .missing || !holdings.isEmpty }
    }

    /// `nil` if the index was made with the key of `vault`.
    static func foreign(_ database: Database, vault: Vault?) throws -> Foreign? {
        try keyDifference(database, vault: vault).map { Foreign(difference: $0, holdings: try holdings(in: database)) }
    }

    /// The same for the index in `directory`; `nil` also if it cannot be read, or if its format was never released.
    static func foreign(in directory: String, vault: Vault?) -> Foreign? {
        guard !isUnreleased(directory, fileSystem: SystemFileSystem()) else { return nil }
        return try? reading(directory + "/" + fileName) { try foreign($0, vault: vault) }.result
    }
}

/// The contents of a cache, in numbers.
package struct Holdings: Sendable {
    package var entries = 0
    package var storedBytes: Int64 = 0
    /// Pinned entries and downloads, including those of which nothing is stored.
    package var holds = 0

    var isEmpty: Bool { entries == 0 && holds == 0 }
}

extension MediaCache {
    /// The contents of `directory` under a key other than that of `encryption`; `nil` if there are none, or they cannot
    /// be determined.
    package static func holdings(
        in directory: String, underAnotherKeyThan encryption: CacheEncryption?
    ) throws(RepriseError) -> Holdings? {
        let vault = try encryption.map { encryption throws(RepriseError) in Vault(key: try encryption.provider.key()) }
        return IndexDatabase.foreign(in: directory, vault: vault).flatMap { $0.isRefused ? $0.holdings : nil }
    }
}
