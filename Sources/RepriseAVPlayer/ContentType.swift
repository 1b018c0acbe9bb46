/// A uniform type identifier declared by Apple's systems, never a dynamic one.
///
/// Uses tables instead of `UTType`, so that every platform, and every version of one, gives the same answer. Sources:
/// Apple's list of system-declared identifiers, `AVFileType`, and the types that macOS itself declares.
struct ContentType: Sendable, Hashable {
    let identifier: String

    init(_ identifier: String) { self.identifier = identifier }

    /// Determines the type for AVFoundation: the app's override, then a specific media type, then the path's extension,
    /// then the first bytes.
    ///
    /// `nil` if none of them is conclusive; AVFoundation then decides by itself.
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

    /// Creates a type from an identifier or a file name extension.
    init?(fileType: String) {
        guard !fileType.hasPrefix("dyn.") else { return nil }
        if fileType.contains(".") {
            self.init(fileType)
        } else {
            self.init(pathExtension: fileType)
        }
    }

    /// Creates a type from a media type, ignoring parameters; `nil` for the generic types that servers use for unknown
    /// files.
    init?(mediaType: String?) {
        guard let essence = mediaType?.prefix(while: { $0 != ";" }), let found = Self.byMediaType[Self.trimmed(essence)]
        else { return nil }
        self.init(found)
    }

    /// Creates a type from a file name extension, in any case, without the dot.
    init?(pathExtension: String) {
        guard let found = Self.byExtension[pathExtension.lowercased()] else { return nil }
        self.init(found)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()).lowercased()
    }

    /// The identifier to answer with if only `allowed` ones are accepted; `nil` if none of them fits.
    ///
    /// An empty list accepts all. Otherwise the type itself, or one that it conforms to.
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

    /// The identifier of a key that AVFoundation requests while it plays HLS.
    static let contentKey = ContentType("com.apple.streamingkeydelivery.contentkey")
}
