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
    /// Why a file that begins with `bytes` is something else, as an error with status 200 is; `nil` if nothing shows
    /// that it is.
    ///
    /// A text is believed to be media if its type says so, unless it `isAlone`, among files that begin otherwise.
    package func objection(
        to information: ContentInformation, beginning bytes: [UInt8], isAlone: Bool = false, at url: ResourceURL
    ) -> RepriseError? {
        // Coded bytes show nothing.
        if self == .key || information.contentCoding != nil { return nil }
        if WebPage.begins(bytes) { return self == .media ? Self.page(at: url) : WebPage.objection(at: url) }
        guard self == .media || url.namesMedia, BodyBeginning(bytes) == .text, !SubtitleBeginning.isSubtitle(bytes),
            isAlone || MediaType(information.mediaType)?.isOfOtherKind == true
        else { return nil }
        let text = String(decoding: bytes.prefix(Self.quoted), as: UTF8.self).split(whereSeparator: \.isNewline).first
        return .logIn(
            .notDownloadable, "The origin sent a text in place of \(url.redacted), which begins with \"\(text ?? "")\"")
    }

    private static func page(at url: ResourceURL) -> RepriseError {
        .logIn(.notDownloadable, "The origin sent a page in place of \(url.redacted)")
    }

    /// Number of bytes of a text that a message quotes.
    private static let quoted = 80
}

/// Texts that are files of streams.
private enum SubtitleBeginning {
    /// Whether a text begins as WebVTT, TTML or SubRip does.
    static func isSubtitle(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(BodyBeginning.length), as: UTF8.self).drop { $0 == "\u{FEFF}" }
        return head.hasPrefix("WEBVTT") || head.contains("<tt ") || head.contains("<tt:tt") || head.contains(" --> ")
    }
}

/// What the address of a film often leads to, such as a page with a player, or one that asks for a log-in.
package enum WebPage {
    /// Whether a text begins as HTML does, whatever its media type is.
    package static func begins(_ bytes: [UInt8]) -> Bool {
        let head = String(decoding: bytes.prefix(512), as: UTF8.self).lowercased().drop { $0.isWhitespace }
        return head.hasPrefix("<!doctype html") || head.hasPrefix("<html")
    }

    /// Why a file with this metadata is no film; `nil` unless it is a web page.
    package static func objection(to information: ContentInformation, at url: ResourceURL) -> RepriseError? {
        MediaType(information.mediaType)?.isHTML == true ? objection(at: url) : nil
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
