extension Int64 {
    /// The largest offset or length that counts as a number of bytes: 2^53, nine petabytes.
    ///
    /// No file is that large, JSON and JavaScript hold every smaller integer exactly, and a thousand such numbers add up
    /// without overflow. Every offset and length is compared with it where it enters: from fields, from the disk, from
    /// the program. What lies behind may then add.
    package static let largestPosition: Int64 = 1 << 53
}
