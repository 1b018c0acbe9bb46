/// A point at which a process may die with the store between two states; tests kill it there.
package enum CrashPoint: String, CaseIterable, Sendable {
    /// The index is open and marked as in use.
    case opened
    /// Inside the transaction that brings the index to the next format, before its commit.
    case migrating
    /// A file of a damaged index, or of a cache of an unreleased format, was moved aside; others may still be in place.
    case settingAside
    /// A cache that another key made is being emptied, as requested: first a mark says so, then the index's files are
    /// removed one by one, then the media.
    case resetting
    /// Room is reserved, nothing is written.
    case reserved
    /// Bytes are in the data file but not published.
    case written
    /// Readers see the bytes, but the index does not list them.
    case published
    /// Inside the transaction of a batch, before its commit.
    case recording
    /// A batch is committed.
    case recorded
    /// The records of entries are removed, their files are not.
    case unrecorded
    /// A file of a removed entry is removed; others may still exist.
    case removed
    /// The record of an extent is removed, its bytes are not.
    case extentUnrecorded
    /// The blocks of an extent are freed.
    case extentPunched
    /// Everything is recorded; the index is still marked as in use.
    case closing
}
