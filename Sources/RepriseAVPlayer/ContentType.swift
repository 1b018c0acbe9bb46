/// A uniform type identifier that Apple's systems declare, never a dynamic one.
///
/// Tables instead of `UTType`, so that every platform, and every version of one, decides alike. Sources: Apple's list of
/// system-declared identifiers, `AVFileType`, and the types that macOS itself declares.
struct ContentType: Sendable, Hashable {
    let identifier: String

    init(_ identifier: String) { self.identifier = identifier }

    /// Decides what AVFoundation is told: an app's own word, then a media type that says something, then the path's
    /// extension, then the first bytes.
    ///
    /// `nil` if none of them tells; AVFoundation then judges by itself.
    static func decide(override: String?, mediaType: String?, pathExtension: String, firstBytes: [UInt8])
        -> ContentType?
    {
        if let override { return ContentType(fileType: override) }
        return ContentType(mediaType: mediaType) ?? ContentType(pathExtension: pathExtension)
            ?? ContentType(firstBytes: firstBytes)
    }

    /// Whether ``decide(override:mediaType:pathExtension:firstBytes:)`` would have to look at bytes.
    static func needsBytes(override: String?, mediaType: String?, pathExtension: String) -> Bool {
        override == nil && ContentType(mediaType: mediaType) == nil && ContentType(pathExtension: pathExtension) == nil
    }

    /// An identifier as it is, or the one of a file name extension.
    init?(fileType: String) {
        guard !fileType.hasPrefix("dyn.") else { return nil }
        if fileType.contains(".") {
            self.init(fileType)
        } else {
            self.init(pathExtension: fileType)
        }
    }

    /// By media type, parameters ignored; `nil` for the types that servers give to what they do not know.
    init?(mediaType: String?) {
        guard let essence = mediaType?.prefix(while: { $0 != ";" }), let found = Self.byMediaType[Self.trimmed(essence)]
        else { return nil }
        self.init(found)
    }

    /// By file name extension, in any case, without its dot.
    init?(pathExtension: String) {
        guard let found = Self.byExtension[pathExtension.lowercased()] else { return nil }
        self.init(found)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }

    /// The identifier to answer with where only `allowed` ones are accepted; `nil` if none of them fits.
    ///
    /// An empty list accepts all. Else the type itself, or one that it conforms to.
    func answer(allowed: [String]) -> ContentType? {
        if allowed.isEmpty || allowed.contains(identifier) { return self }
        var candidates = Self.parents[identifier] ?? []
        var seen: Set<String> = [identifier]
        while !candidates.isEmpty {
            let candidate = candidates.removeFirst()
            if allowed.contains(candidate) { return ContentType(candidate) }
            if seen.insert(candidate).inserted { candidates += Self.parents[candidate] ?? [] }
        }
        return nil
    }

    /// Whether this is a playlist that AVFoundation reads as text.
    var isPlaylist: Bool { identifier == "public.m3u-playlist" }

    /// The identifier of a key that AVFoundation asks for while it plays HLS.
    static let contentKey = ContentType("com.apple.streamingkeydelivery.contentkey")
}
