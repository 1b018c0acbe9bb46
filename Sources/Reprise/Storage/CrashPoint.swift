/// A place where a process may die with the store between two states; tests kill it there.
package enum CrashPoint: String, CaseIterable, Sendable {
    /// The catalogue is open, and marked as in use.
    case opened
    /// A file of a damaged catalogue was moved out of the way; others may not be yet.
    case settingAside
    /// A file of a catalogue that another key made was removed, as requested; the rest of the cache may still be there.
    case resetting
    /// Room is reserved, nothing is written.
    case reserved
    /// Bytes are in the data file; nobody knows.
    case written
    /// Readers see the bytes; the catalogue does not.
    case published
    /// Inside the transaction of a batch, before its commit.
    case recording
    /// A batch is committed.
    case recorded
    /// The records of entries are gone, their files are not.
    case unrecorded
    /// A file of a removed entry is gone, others may not be yet.
    case removed
    /// The record of an extent is gone, its bytes are not.
    case extentUnrecorded
    /// The bytes of an extent are given back.
    case extentPunched
    /// Everything is recorded, the catalogue is still marked as in use.
    case closing
}
