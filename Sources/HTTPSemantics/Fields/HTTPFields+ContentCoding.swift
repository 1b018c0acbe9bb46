package import HTTPTypes

extension HTTPFields {
    /// The first content coding that changes the bytes, in lower case, such as `gzip`; `nil` without one.
    ///
    /// `identity` has no place in the field (RFC 9110 §8.4.1), but is sent. `none` and `aws-chunked`, which S3 keeps
    /// from uploads, are no registered codings, and the bytes are those of the file. Empty elements don't count
    /// (§5.6.1.2).
    package var contentCoding: String? {
        self[values: .contentEncoding].lazy.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .first { !$0.isEmpty && !Self.codingsWithoutEffect.contains($0) }
    }

    private static var codingsWithoutEffect: Set<String> { ["identity", "none", "aws-chunked"] }
}
