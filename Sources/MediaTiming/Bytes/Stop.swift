/// Why a reader of a format cannot go on.
enum Stop: Error {
    /// These bytes are not here yet.
    case missing(MediaNeed)
    /// The file, or the part that is read, ends before.
    case end
    /// The bytes break the rules of the format, or claim more than the limits allow.
    case malformed
}
