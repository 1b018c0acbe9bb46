extension Int64 {
    /// The largest offset or length that counts as a number of bytes: 2^53, nine petabytes.
    ///
    /// No file is that large, JSON and JavaScript represent every smaller integer exactly, and a thousand such numbers
    /// add up without overflow. Every offset and length is checked against it on entry: from fields, from the disk,
    /// from the program. Code behind that check may then add.
    package static let largestPosition: Int64 = 1 << 53
}
