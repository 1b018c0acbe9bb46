public import Foundation
public import HTTPTypes

/// The calls that take a URL, for Foundation's type.
extension MediaCache {
    /// Opens the cache in the directory at `directory`, a file URL; see
    /// ``open(directory:origin:configuration:)-(String,_,_)``.
    ///
    /// Throws ``RepriseError``, `invalidArgument` for what is no file URL among it.
    public static func open(
        directory: URL, origin: any Origin, configuration: Configuration = Configuration()
    ) async throws -> MediaCache {
        guard directory.isFileURL else {
            throw RepriseError(.invalidArgument, "Only a file URL can be a cache's directory.")
        }
        return try await open(directory: directory.path, origin: origin, configuration: configuration)
    }

    /// The resource at `url`; see ``resource(for:fields:partition:)-(ResourceURL,_,_)``.
    ///
    /// Throws ``RepriseError``: `invalidURL` for what is neither http nor https, `closed` after ``close()``.
    public func resource(
        for url: URL, fields: HTTPFields = [:], partition: String? = nil
    ) throws(RepriseError) -> MediaResource {
        try resource(for: ResourceURL(url), fields: fields, partition: partition)
    }

    /// Whether every byte at `url` is on disk, in `partition` if one is named; looks into the index, never at the
    /// network.
    ///
    /// Of a stream as ``MediaResource/isCached`` says. False for URLs that are neither http nor https.
    public func isCached(_ url: URL, partition: String? = nil) async -> Bool {
        guard let url = try? ResourceURL(url) else { return false }
        return await isCached(url, partition: partition)
    }

    /// Removes the stored bytes of `url`, also while they are being read: such reads end at their next hole.
    ///
    /// A stream goes as ``remove(_:)-(MediaResource)`` says. Returns the bytes freed; 0 if there was nothing. Throws
    /// ``RepriseError``: `invalidURL` for what is neither http nor https, `storageUnavailable` when the index cannot be
    /// written.
    @discardableResult
    public func remove(_ url: URL, partition: String? = nil) async throws -> Int64 {
        try await remove(resource(for: url, partition: partition))
    }

    /// Removes the stored bytes of `resource`, also while they are being read: such reads end at their next hole.
    ///
    /// A stream goes as a title (``removeTitle(_:)``), with its segments that belong to no other one, if the
    /// configuration reads playlists (`downloadsStreams` of `RepriseStreams`). Returns the bytes freed; 0 if there was
    /// nothing.
    @discardableResult
    public func remove(_ resource: MediaResource) async throws -> Int64 {
        let isStream = try await engine.stream(of: resource.key) != nil
        return try await isStream ? removeTitle(resource.key) : remove(resource.key)
    }

    /// Sets how long the stored bytes of `url` are kept; see ``retain(_:as:)-(MediaResource,_)``.
    ///
    /// Throws what that throws, and `invalidURL` for what is neither http nor https.
    public func retain(_ url: URL, as retention: Retention, partition: String? = nil) async throws {
        try await retain(resource(for: url, partition: partition), as: retention)
    }

    /// The data file of `url`, if every byte is on disk and the cache is not encrypted; see
    /// ``MediaResource/fileURL()``.
    public func fileURL(for url: URL, partition: String? = nil) async -> URL? {
        await (try? resource(for: url, partition: partition))?.fileURL()
    }
}

extension ResourceURL {
    /// The same URL, spelled as `url` is.
    ///
    /// Throws ``RepriseError`` with code `invalidURL`, as ``init(_:)-(String)`` does.
    public init(_ url: URL) throws(RepriseError) { try self.init(url.absoluteString) }
}

extension URL {
    /// The same URL for Foundation; `nil` if Foundation refuses it.
    public init?(_ url: ResourceURL) { self.init(string: url.description) }
}
