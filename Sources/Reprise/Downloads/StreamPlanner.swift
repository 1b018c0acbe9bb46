package import ByteRanges

/// Says which files a stream consists of; made where playlists are read, because the engine reads none.
package protocol StreamPlanner: Sendable {
    /// Most bytes that a playlist has.
    var largestPlaylist: Int64 { get }

    /// Whether a file with this metadata may be a playlist.
    func mayBePlaylist(_ information: ContentInformation, at url: ResourceURL) -> Bool

    /// Whether its name or its media type says that a file is the playlist of a stream.
    func isDeclaredStream(_ information: ContentInformation?, at url: ResourceURL) -> Bool

    /// Whether a file that begins with `bytes` is a playlist.
    func beginsPlaylist(_ bytes: [UInt8]) -> Bool

    /// Whether `bytes` are a playlist that names no files.
    func namesNothing(_ bytes: [UInt8]) -> Bool

    /// The error for a web page, or for a file that its name or media type declares a playlist although it is none.
    ///
    /// Returns `nil` for a playlist, and for any other file that is not declared a playlist.
    ///
    /// Without `information`, as of a file that is empty, only the name is known; without `bytes`, only the metadata.
    func objection(to information: ContentInformation?, beginning bytes: [UInt8]?, at url: ResourceURL) -> RepriseError?

    /// The files of the stream that begins with `first`, without playlists, in the order in which they play; `nil` if
    /// that is no playlist.
    ///
    /// Other playlists come from `load`. Throws ``RepriseError`` with code `notDownloadable`, and what `load` throws.
    func files(
        of first: StreamDocument, selection: StreamSelection,
        load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamFile]?

    /// All that the stored playlists of the stream that begins with `first` name, whatever of it is downloaded; `nil`
    /// if that is no ended stream, or not all of it is known.
    ///
    /// Other playlists come from `stored`, which returns `nil` for one that is not there. Throws what `stored` throws.
    func names(
        in first: StreamDocument, stored: (ResourceURL) throws -> StreamDocument?
    ) throws -> Set<ResourceURL>?

    /// The stored files that the stored playlists of the titles of `keys` name, and those that the playlists of other
    /// titles name which have some of them, too.
    ///
    /// `policy` says how the keys of files are derived. Throws ``RepriseError`` with code `storageUnavailable`.
    func storedFiles(
        aroundTitles keys: [CacheKey], in inspector: CacheInspector, policy: CacheKeyPolicy
    ) throws -> [TitleReference: Set<CacheKey>]

    /// Whether the stream `title` plays to its end without the origin, as its stored playlists say.
    ///
    /// `policy` says how the keys of files are derived. Throws ``RepriseError`` with code `storageUnavailable`.
    func isComplete(_ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy) throws -> Bool

    /// How much of the stream `title` is stored, according to its stored playlists; `nil` if it is not known to be a
    /// stream.
    ///
    /// `policy` derives the keys of files. Throws ``RepriseError`` with code `storageUnavailable`.
    func storedStream(_ title: Title, in inspector: CacheInspector, policy: CacheKeyPolicy) throws -> StoredStream?

    /// The parts with which the stream that begins with `first` starts to play, in the order in which they are needed;
    /// `nil` if that is no playlist.
    ///
    /// Other playlists come from `load`. Throws ``RepriseError`` with code `notDownloadable`, and what `load` throws.
    func beginning(
        of first: StreamDocument, amount: PreloadAmount, load: (ResourceURL) async throws -> StreamDocument
    ) async throws -> [StreamPart]?
}

/// How much of a stream is stored.
package struct StoredStream: Sendable, Equatable {
    /// A variant, rendition or representation.
    package struct Track: Encodable, Sendable, Equatable {
        /// Such as `video` or `audio`.
        package let kind: String
        /// Its name and its language, as the playlist has them.
        package let name, language: String?
        /// In pixels.
        package let width, height: Int64?
        /// Peak bits per second.
        package let bandwidth: Int64?
        package let segments, storedSegments: Int
        /// From 0 to 1; `nil` while its playlist is not stored.
        package let storedShare: Double?

        /// Creates a value from its parts.
        package init(
            kind: String, name: String?, language: String?, width: Int64?, height: Int64?, bandwidth: Int64?,
            segments: Int, storedSegments: Int, storedShare: Double?
        ) {
            (self.kind, self.name, self.language) = (kind, name, language)
            (self.width, self.height, self.bandwidth) = (width, height, bandwidth)
            (self.segments, self.storedSegments, self.storedShare) = (segments, storedSegments, storedShare)
        }
    }

    /// The stored fraction of the most complete variant, from 0 to 1; `nil` if unknown.
    package let share: Double?
    /// Whether the stream can be played to its end without the origin.
    package let isComplete: Bool
    /// Number of files that are at least partially cached.
    package let fileCount: Int
    /// Its tracks; empty while its playlist is not stored.
    package let tracks: [Track]

    /// Creates a value from its parts.
    package init(share: Double?, isComplete: Bool, fileCount: Int, tracks: [Track] = []) {
        (self.share, self.isComplete, self.fileCount, self.tracks) = (share, isComplete, fileCount, tracks)
    }
}

/// The text of a playlist.
package struct StreamDocument: Sendable {
    /// The text.
    package let bytes: [UInt8]
    /// The URL that it came from, after redirects: links are relative to it.
    package let url: ResourceURL

    /// Creates a document.
    package init(bytes: [UInt8], url: ResourceURL) { (self.bytes, self.url) = (bytes, url) }
}

/// A file that a playlist names.
package struct StreamFile: Sendable, Hashable {
    /// Where it is.
    package let url: ResourceURL
    /// Whether it is a decryption key, which a download stores although its origin forbids storing: without it the
    /// segments are useless.
    package let isKey: Bool
    /// The bytes of it that the stream has, where it has ranges of it alone; `nil` for all.
    package var ranges: ByteRangeSet?

    /// What it must be.
    package var content: StreamContent { isKey ? .key : .media }

    /// Creates a file.
    package init(url: ResourceURL, isKey: Bool = false, ranges: ByteRangeSet? = nil) {
        (self.url, self.isKey, self.ranges) = (url, isKey, ranges)
    }

    /// Its bytes that the stream has, if it has so many; `nil` for all of a file of unknown length.
    package func bytes(ofLength length: Int64?) -> ByteRangeSet? {
        let file = length.map { ByteRangeSet(0..<$0) }
        return ranges.map { named in file.map { named.intersection($0) } ?? named } ?? file
    }
}

/// A part of a file that a playlist names.
package struct StreamPart: Sendable, Hashable {
    /// Which bytes of the file.
    package enum Extent: Sendable, Hashable {
        /// All of them.
        case whole
        /// These.
        case range(Range<Int64>)
        /// Those of the first seconds, as the file itself says.
        case seconds(Double)
    }

    /// The file.
    package let file: StreamFile
    /// Which bytes of it.
    package let extent: Extent

    /// Creates a part.
    package init(file: StreamFile, extent: Extent) { (self.file, self.extent) = (file, extent) }
}
