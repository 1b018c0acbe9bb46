import HTTPSemantics

/// What a file must be that is fetched to be kept: something else in its place is neither downloaded nor kept.
///
/// Of a file of a stream its playlist says what it is.
package enum StreamContent: Sendable {
    /// What a title begins with: media, a playlist, but no web page.
    case title
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
        case .title:
            return MediaType(information.mediaType)?.isHTML == true ? WebPage.objection(at: url) : nil
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

/// What the address of a film often leads to, such as a page with a player, or one that asks for a log-in.
package enum WebPage {
    /// Whether a text begins as HTML does, whatever its media type is.
    package static func begins(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        return head.hasPrefix("<!doctype html") || head.hasPrefix("<html")
    }

    /// Why a web page at `url` is not kept.
    package static func objection(at url: ResourceURL) -> RepriseError {
        if url.namesMedia { return .logIn(.notDownloadable, "The origin sent a page in place of \(url.redacted)") }
        return RepriseError(
            .notDownloadable,
            "That is a web page, not a film: \(url.redacted). Give the address of the film itself, which a program such "
                + "as yt-dlp finds in it: yt-dlp -g URL")
    }
}

extension Engine {
    /// Why a file with this metadata is something else than `content`; `nil` if nothing shows that it is.
    ///
    /// Of what may be a playlist only the text tells: some origins call it a page.
    func objection(
        to information: ContentInformation, as content: StreamContent?, at url: ResourceURL
    ) -> RepriseError? {
        if content == .title, configuration.streamPlanner?.mayBePlaylist(information, at: url) == true { return nil }
        return content?.objection(to: information, at: url)
    }
}
