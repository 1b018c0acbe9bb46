import Foundation
import Reprise
import RepriseStreams

/// One file or title in JSON.
///
/// Sizes in bytes, times in seconds since 1970.
struct EntryReport: Encodable {
    let url: String
    let key: String
    let storedBytes: Int64
    let allocatedBytes: Int64
    let kept: String?
    let keptUntil: Double?
    /// How much of the beginning is kept.
    let keptFirst: String?
    let completeLength: Int64?
    /// Whether it plays to its end without the origin.
    var complete: Bool
    let mediaType: String?
    let etag: String?
    let lastModified: String?
    let lastUsed: Double?
    let plays: Int
    /// Of a title: its name, its tag, the number of its files, the format of its playlists, and the bytes on disk that
    /// removing it frees.
    var name: String?
    var tag: String?
    var files: Int?
    var format: String?
    var ownBytes: Int64?
    var spans: [[Int64]]?
    /// The host that sent it, if that is known to give each request another file.
    var splicingHost: String?
    /// Problems that the running server has noticed with the file's host.
    var remarks: [String]?
    /// What it is the playlist of.
    var stream: StreamReport?
    /// Why its playlist was not read to its end, so that nothing is known of its share.
    var problem: String?

    init(_ entry: CacheEntry, spans: [[Int64]]? = nil) {
        url = entry.url.description
        key = entry.key.text
        storedBytes = entry.storedBytes
        allocatedBytes = entry.allocatedBytes
        (kept, keptUntil) = (entry.retention.word, entry.retention.end?.timeIntervalSince1970)
        keptFirst = entry.retention.beginning
        completeLength = entry.information.completeLength
        complete = entry.isComplete
        mediaType = entry.information.mediaType
        etag = entry.information.validators.etag?.description
        lastModified = entry.information.validators.lastModified?.description
        lastUsed = entry.lastUsed.timeIntervalSince1970
        plays = entry.plays
        self.spans = spans
    }

    init(_ stored: StoredTitle) {
        let (title, entry) = (stored.title, stored.entry)
        url = title.url.description
        key = title.key.text
        storedBytes = stored.storedBytes
        allocatedBytes = title.allocatedBytes
        (kept, keptUntil) = (title.retention.word, title.retention.end?.timeIntervalSince1970)
        keptFirst = title.retention.beginning
        let isFile = !title.isStream && stored.outline == nil
        completeLength = isFile ? entry?.information.completeLength : nil
        complete = stored.isComplete
        mediaType = entry?.information.mediaType
        etag = isFile ? entry?.information.validators.etag?.description : nil
        lastModified = isFile ? entry?.information.validators.lastModified?.description : nil
        lastUsed = title.lastUsed?.timeIntervalSince1970
        plays = title.plays
        (name, tag, ownBytes) = (title.name, title.tag, title.ownBytes)
        (files, format) = (stored.fileCount, stored.outline?.formatName)
        problem = stored.outline?.obstacle
    }

    /// A pin or a download of which nothing is stored.
    init(_ entry: CacheInspector.AwaitedEntry) {
        url = entry.url.description
        key = entry.key.text
        (kept, keptUntil) = (entry.retention.word, entry.retention.end?.timeIntervalSince1970)
        keptFirst = entry.retention.beginning
        (storedBytes, allocatedBytes, complete, plays) = (0, 0, false, 0)
        (completeLength, mediaType, etag, lastModified, lastUsed) = (nil, nil, nil, nil, nil)
    }
}
