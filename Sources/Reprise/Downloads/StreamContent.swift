import HTTPSemantics

/// The expected content of a file that is downloaded or preloaded; other content is rejected.
///
/// For a file of a stream, the playlist determines the expected content.
package enum StreamContent: Sendable {
    /// The first file of a title: media or a playlist, but not a web page.
    case title
    /// Media: a segment, or what is needed before it.
    case media
    /// A decryption key.
    case key

    /// Lengths of keys for AES-128 and AES-256, in bytes.
    package static let keyLengths: Set<Int64> = [16, 32]

    /// The error for a file whose metadata shows other content; `nil` if it doesn't.
    ///
    /// A media type tells nothing about a key: programs that send one often leave theirs at `text/html`.
    package func objection(to information: ContentInformation, at url: ResourceURL) -> RepriseError? {
        switch self {
        case .title:
            return WebPage.objection(to: information, at: url)
        case .media:
            // A program that makes segments (`segment.php?n=3`) may leave their type at that of pages.
            let isOfProgram = url.lastPathComponent.contains(".") && !url.namesMedia
            guard MediaType(information.mediaType)?.isHTML == true, !isOfProgram else { return nil }
            return Self.page(at: url)
        case .key:
            guard let length = information.completeLength, !Self.keyLengths.contains(length) else { return nil }
            return .logIn(
                .notDownloadable,
                "The origin sent \(length) \(length == 1 ? "byte that is" : "bytes that are") no key in place of "
                    + "the key \(url.redacted)")
        }
    }
}

extension StreamContent {
    /// The error if `bytes`, the beginning of the file, show that it has other content, such as an error sent with
    /// status 200.
    ///
    /// Returns `nil` for plausible content. A stream's file may be text if its media type allows text, unless it
    /// `isAlone`, meaning that the stream's other files begin differently. A large picture is accepted as a stream's
    /// file, because some servers hide segments in pictures.
    package func objection(
        to information: ContentInformation, beginning bytes: [UInt8], isAlone: Bool = false, at url: ResourceURL
    ) -> RepriseError? {
        // Encoded bytes reveal nothing.
        if self == .key || information.contentCoding != nil { return nil }
        if WebPage.begins(bytes) { return self == .media ? Self.page(at: url) : WebPage.objection(at: url) }
        guard self == .media || url.namesMedia else { return nil }
        switch BodyBeginning(bytes) {
        case .picture where self == .title || information.completeLength ?? .max < Self.smallPicture:
            return .logIn(.notDownloadable, "The origin sent a picture in place of \(url.redacted)")
        case .text where !BodyBeginning.isSubtitle(bytes): break
        default: return nil
        }
        guard
            isAlone || self == .title && BodyBeginning.isMarkup(bytes)
                || MediaType(information.mediaType)?.isOfOtherKind == true
        else { return nil }
        let text = String(decoding: bytes.prefix(Self.quoted), as: UTF8.self).split(whereSeparator: \.isNewline).first
        return .logIn(
            .notDownloadable, "The origin sent a text in place of \(url.redacted), which begins with \"\(text ?? "")\"")
    }

    private static func page(at url: ResourceURL) -> RepriseError {
        .logIn(.notDownloadable, "The origin sent a page in place of \(url.redacted)")
    }

    /// Smaller pictures are too short to hide a segment, in bytes.
    private static let smallPicture: Int64 = 1 << 10

    /// Maximum number of bytes that an error message quotes from a text.
    private static let quoted = 80
}

/// A web page served in place of a film, such as a page with a player or a login form.
package enum WebPage {
    /// Whether a text begins like HTML, regardless of its media type.
    package static func begins(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        return head.hasPrefix("<!doctype html") || head.hasPrefix("<html")
    }

    /// The error for a file whose metadata says that it is a web page; `nil` otherwise.
    package static func objection(to information: ContentInformation, at url: ResourceURL) -> RepriseError? {
        MediaType(information.mediaType)?.isHTML == true ? objection(at: url) : nil
    }

    /// The error for a web page at `url`.
    package static func objection(at url: ResourceURL) -> RepriseError {
        if url.namesMedia { return .logIn(.notDownloadable, "The origin sent a page in place of \(url.redacted)") }
        return RepriseError(
            .notDownloadable,
            "That is a web page, not a film: \(url.redacted). Give the address of the film itself, which a program such "
                + "as yt-dlp finds in it: yt-dlp -g URL")
    }
}

extension Engine {
    /// The error for a file whose metadata contradicts `content`; `nil` if it doesn't.
    ///
    /// A file that may be a playlist is judged by its text alone, because some origins label playlists as HTML.
    func objection(
        to information: ContentInformation, as content: StreamContent?, at url: ResourceURL
    ) -> RepriseError? {
        if content == .title, configuration.streamPlanner?.mayBePlaylist(information, at: url) == true { return nil }
        return content?.objection(to: information, at: url)
    }
}
