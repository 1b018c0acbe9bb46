import HTTPSemantics

/// What a playlist says that a file of a stream is: something else in its place is neither downloaded nor kept.
package enum StreamContent: Sendable {
    /// Media: a segment, or what is needed before it.
    case media
    /// A decryption key.
    case key

    /// Lengths of keys for AES-128 and AES-256, in bytes.
    package static let keyLengths: Set<Int64> = [16, 32]

    /// Why a file with this metadata is something else; `nil` if nothing shows that it is.
    ///
    /// A media type tells nothing about a key: programs that send one often leave theirs at `text/html`.
    package func objection(to information: ContentInformation, at url: ResourceURL) -> RepriseError? {
        switch self {
        case .media:
            // A program that makes segments (`segment.php?n=3`) may leave their type at that of pages.
            let isOfProgram = url.lastPathComponent.contains(".") && !url.namesMedia
            guard MediaType(information.mediaType)?.isHTML == true, !isOfProgram else { return nil }
            return .logIn(.notDownloadable, "The origin sent a page in place of \(url.redacted)")
        case .key:
            guard let length = information.completeLength, !Self.keyLengths.contains(length) else { return nil }
            return .logIn(
                .notDownloadable,
                "The origin sent \(length) \(length == 1 ? "byte that is" : "bytes that are") no key in place of "
                    + "the key \(url.redacted)")
        }
    }
}
