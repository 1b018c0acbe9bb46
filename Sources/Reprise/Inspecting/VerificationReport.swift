/// The result of ``MediaCache/verify(_:)``.
public struct VerificationReport: Sendable {
    /// Stored bytes that did not match their checksum or tag.
    public struct DamagedRange: Sendable, Hashable {
        /// The key of the entry.
        public let key: CacheKey
        /// The bytes, half-open.
        public let range: Range<Int64>
    }

    /// Entries checked.
    public var entries = 0
    /// Bytes of media that were read and matched.
    public var soundBytes: Int64 = 0
    /// Stored ranges that did not match; they are holes now and will be fetched again.
    public var damaged: [DamagedRange] = []
    /// Entries whose file is gone; they are removed from the index.
    public var missing: [CacheKey] = []
    /// Entries whose file could not be opened this time; they are left as they are.
    public var unreadable: [CacheKey] = []
    /// Records that could not be read or belong to no entry; they are removed with their files.
    public var damagedRecords = 0

    /// Whether nothing was damaged, missing or unreadable.
    public var isSound: Bool { damaged.isEmpty && missing.isEmpty && unreadable.isEmpty && damagedRecords == 0 }
}
