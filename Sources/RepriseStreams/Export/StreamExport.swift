import ByteRanges
public import Foundation
import Playlists
import Primitives
public import Reprise

/// The stored tracks of a stream of HLS or DASH, to be written as a folder that plays from disk.
///
/// The folder has the outermost playlist, under the name of its URL, and one folder for each track with its playlist,
/// segments and keys; links are relative. Variants, renditions and representations that are not stored as wholes are
/// left out, in groups that stay consistent. Nothing is fetched. The files are not encrypted, whatever the cache is.
///
/// ```swift
/// let export = try StreamExport(of: url, in: CacheInspector(directory: "media-cache"))
/// try await export.write(to: "film")
/// print("Play film/\(export.playlistName)")
/// ```
public struct StreamExport: Sendable {
    /// The name of the outermost playlist in the folder.
    public let playlistName: String
    /// Number of files, the playlists among them.
    public var fileCount: Int { plan.media.count + plan.texts.count }
    /// Number of bytes of all files.
    public var byteCount: Int64 { plan.byteCount }

    /// The extensions of the files of exports.
    package static var extensions: Set<String> { ExportNames.extensions }

    /// A playlist of subtitles beside the sound and the picture, in HLS.
    package struct Subtitles: Sendable, Hashable {
        /// Its path in the folder.
        package let path: String
        /// `NAME` and `LANGUAGE` of the rendition.
        package let name, language: String?
        /// `DEFAULT=YES` and `FORCED=YES` of the rendition.
        package let isDefault, isForced: Bool
        /// Whether its segments are texts (WebVTT), and neither parts of an MP4 file nor encrypted.
        package let isText: Bool
    }

    /// The subtitles in HLS, in the order of the playlist.
    package private(set) var subtitles: [Subtitles] = []

    /// How long it plays; `nil` if its playlists do not say that.
    package let playingTime: PlayingTime?
    /// The MPD as it will be; `nil` for HLS.
    private let mpd: MPD?
    /// The playlists of HLS with sound or pictures.
    private var timedLists: [HLSParts.Source] = []
    private let plan: ExportPlan
    private let files: StoredFiles

    /// Looks up which tracks are stored of the stream whose outermost playlist is at `url`.
    ///
    /// With a `selection`, only the tracks that it means are exported; otherwise all that are stored as wholes.
    /// `keyPolicy` is that of the cache. Waits for the disk. Throws ``RepriseError``: `notStored` if the playlist is
    /// not stored, or no track that it names is stored as a whole; `notDownloadable` if the stream is live or
    /// protected, or has nothing of what is selected; `invalidArgument` if `url` is no stream, which
    /// ``MediaResource/export(to:)-(String)`` writes; `storageUnavailable`.
    public init(
        of url: ResourceURL, in inspector: CacheInspector, selection: StreamSelection? = nil,
        keyPolicy: CacheKeyPolicy = .url
    ) throws(RepriseError) {
        let files = try StoredFiles(inspector, policy: keyPolicy)
        guard let entry = files.entry(at: url) else {
            throw RepriseError(.notStored, "Nothing is stored for \(url.redacted).")
        }
        guard let export = try StreamExport(of: entry, in: files, selection: selection) else {
            throw RepriseError(.invalidArgument, "\(url.redacted) is no stream, or its playlist is incomplete.")
        }
        self = export
    }

    /// The same for the stream whose outermost playlist is `entry`; `nil` if that is no complete playlist of a stream.
    package init?(of entry: CacheEntry, in files: StoredFiles, selection: StreamSelection? = nil) throws(RepriseError) {
        guard let playlist = Self.playlist(of: entry, in: files) else { return nil }
        let files = files.named(asIn: entry.key)
        self.files = files
        do {
            switch playlist {
            case .hls(let list):
                playlistName = ExportNames.playlist(at: entry.url, format: .hls)
                let exporter = try HLSExporter(
                    list, of: entry, named: playlistName, selection: selection, in: files)
                (plan, mpd, playingTime) = (exporter.plan, nil, exporter.playingTime)
                (subtitles, timedLists) = (exporter.subtitles, exporter.timedLists)
            case .dash(let mpd):
                playlistName = ExportNames.playlist(at: entry.url, format: .dash)
                let exporter = try DASHExporter(
                    mpd, of: entry, named: playlistName, selection: selection, in: files)
                (plan, self.mpd, playingTime) = (exporter.plan, exporter.edited, PlayingTime(of: exporter.edited))
            }
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(
                .notDownloadable, "A playlist of the stream cannot be written with local links.", cause: error)
        }
    }

    /// The parts in time of a stream that has several, in order; none otherwise.
    ///
    /// Throws ``RepriseError``: `notDownloadable` if the playlists cannot be divided; `storageUnavailable`.
    package func periods() throws(RepriseError) -> [ExportedPeriod] {
        do {
            if let mpd {
                guard mpd.periods.count > 1 else { return [] }
                return try mpd.periods.indices.map { try ExportedPeriod($0, of: mpd, at: playlistName) }
            }
            guard let outermost = plan.texts.last else { return [] }
            return try HLSParts(outermost, timedLists, among: plan.texts) { path, extent in
                try plan.media.first { $0.path == path }.flatMap {
                    try files.beginning(of: extent, in: $0.entry, atMost: StoredFiles.longestMap)
                }
            }.periods()
        } catch let error as RepriseError {
            throw error
        } catch {
            throw RepriseError(.notDownloadable, "The periods of the stream cannot be told apart.", cause: error)
        }
    }

    /// Whether `entry` is the complete playlist of a stream.
    package static func isStream(_ entry: CacheEntry, in files: StoredFiles) -> Bool {
        playlist(of: entry, in: files) != nil
    }

    /// Whether `entry` is the complete playlist of a stream in HLS.
    package static func isHLS(_ entry: CacheEntry, in files: StoredFiles) -> Bool {
        if case .hls = playlist(of: entry, in: files) { true } else { false }
    }

    private static func playlist(of entry: CacheEntry, in files: StoredFiles) -> Playlist? {
        guard let bytes = files.playlistBytes(of: entry) else { return nil }
        let base = URIReference((entry.information.finalURL ?? entry.url).description)
        guard let playlist = try? Playlist(bytes, context: HLSContext(url: base)) else { return nil }
        switch playlist {
        case .hls(let list) where list.kind == .multivariant || list.kind == .mixed: return playlist
        // A list of stations or films in the same syntax is no stream.
        case .hls(let list): return list.kind == .media && list.media.targetDuration != nil ? playlist : nil
        case .dash(let mpd): return mpd.root == .presentation ? playlist : nil
        }
    }

    /// Writes the folder at `path`, which appears when it is whole; every byte is verified on the way.
    ///
    /// An empty folder may be there. With `replacing` the folder of an earlier export is replaced, if nothing else was
    /// put into it. `onProgress` gets the number of bytes written so far. Throws ``RepriseError``: `notStored` if
    /// something is gone or damaged since it was looked up, `notDownloadable` if a file is stored in a content coding,
    /// `storageUnavailable` if the folder cannot be written; or
    /// `CancellationError`. No folder appears then.
    public func write(
        to path: String, replacing: Bool = false, onProgress: @escaping @Sendable (_ bytes: Int64) -> Void = { _ in }
    ) async throws {
        do {
            let folder = try OutputFolder(path: path, existing: replacing ? .replaced : .kept)
            try await write(into: folder, onProgress: onProgress)
            try folder.finish()
        } catch let failure as OutputFile.Failure {
            throw RepriseError(.storageUnavailable, failure.message)
        }
    }

    /// Writes the folder at `directory`, a file URL; see ``write(to:replacing:onProgress:)-(String,_,_)``.
    public func write(
        to directory: URL, replacing: Bool = false,
        onProgress: @escaping @Sendable (_ bytes: Int64) -> Void = { _ in }
    ) async throws {
        guard directory.isFileURL else { throw RepriseError(.invalidArgument, "Only a file URL can be written to.") }
        try await write(to: directory.path, replacing: replacing, onProgress: onProgress)
    }

    /// Writes all files into `folder`, which is not finished then; discards it if that fails.
    package func write(into folder: OutputFolder, onProgress: @escaping @Sendable (Int64) -> Void) async throws {
        do {
            try await DiskQueue.shared.runCancelable { try writeFiles(into: folder, onProgress: onProgress) }
        } catch {
            await DiskQueue.shared.run { folder.discard() }
            throw error
        }
    }

    private func writeFiles(into folder: OutputFolder, onProgress: (Int64) -> Void) throws {
        var written: Int64 = 0
        for file in plan.media {
            if let coding = file.entry.information.contentCoding {
                throw RepriseError(
                    .notDownloadable,
                    "\(file.entry.url.redacted) came encoded (Content-Encoding: \(coding)), and no player reads it so from "
                        + "a file. Select what does without it.")
            }
            let length = file.entry.information.completeLength ?? file.entry.storedBytes
            try folder.write(file.path, length: length) { put in
                let stored = try files.read(file.entry) { position, bytes in
                    try Cancellation.check()
                    try put(position, bytes)
                    written += Int64(bytes.count)
                    onProgress(written)
                }
                if let hole = file.needed.subtracting(stored).bounds {
                    throw RepriseError(
                        .notStored,
                        "Of \(file.entry.url.redacted) bytes are missing or damaged. Download the stream again.",
                        range: hole)
                }
            }
        }
        for text in plan.texts { try folder.write(text.path, text: text.bytes) }
    }
}
