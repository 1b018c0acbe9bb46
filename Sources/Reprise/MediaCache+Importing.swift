public import Foundation
public import HTTPTypes

/// Files that a program has already, from another cache for example.
extension MediaCache {
    /// Copies the complete file at `file` into the cache, as if it had been fetched from `url`, and returns its
    /// resource.
    ///
    /// ```swift
    /// try await cache.importFile(
    ///     at: file, as: url, responseFields: [.contentType: "video/mp4", .eTag: "\"5f3-61\""])
    /// ```
    /// `responseFields` are those with which the origin sent the file, as far as they are known. With `ETag` or
    /// `Last-Modified` the origin is later asked whether the file has changed; without them its next answer replaces
    /// the file, at the latest when ``ReusePolicy/playWindow`` is over. `Cache-Control` says how long it need not be
    /// asked, and `Content-Type` is what players need. Fields of one message or one client are left out: the lengths,
    /// `Age`, `Set-Cookie`, `Vary`.
    ///
    /// The origin is not asked, not even in a cache that may (``ReusePolicy/isOffline``). The bytes are read 256 KiB at
    /// a time, encrypted in an encrypted cache, and are not counted as fetched. Least recently used entries are evicted
    /// where the limit requires it. Stored bytes of `url` are replaced, and how long they are kept
    /// (``retain(_:as:)-(MediaResource,_)``) stays. `file` is left as it is, and must not change during the call.
    ///
    /// Throws ``RepriseError``, and stores nothing: `invalidArgument` when `file` is no file URL, no regular file,
    /// empty or unreadable, or when the fields forbid storing; `invalidURL` for what is neither http nor https;
    /// `storageFull` when it does not fit; `storageUnavailable` when nothing can be stored, or the file cannot be read
    /// to its end. Or `CancellationError`.
    @discardableResult
    public func importFile(
        at file: URL, as url: URL, responseFields: HTTPFields = [:], partition: String? = nil
    ) async throws -> MediaResource {
        let resource = try resource(for: url, partition: partition)
        try await importFile(at: file, as: resource, responseFields: responseFields)
        return resource
    }

    /// Copies the complete file at `file` into the cache, as if it had been fetched as `resource`.
    ///
    /// See ``importFile(at:as:responseFields:partition:)``.
    public func importFile(
        at file: URL, as resource: MediaResource, responseFields: HTTPFields = [:]
    ) async throws {
        let source = try await DiskQueue.shared.run {
            try FileOrigin(file, fields: responseFields)
        }
        guard let store = engine.store, store.problem == nil else {
            throw storeProblem
                ?? RepriseError(.storageUnavailable, "Nothing can be stored: the cache has no directory.")
        }
        if let obstacle = await resource.obstacle(toStoring: source.length) {
            throw obstacle.error(importing: file)
        }
        let retention = try await retention(of: resource)
        downloads.cancel([resource.key])
        try await remove(resource.key)
        let result: Result<Void, any Error>
        do {
            result = .success(try await copy(source, as: resource, of: file))
        } catch {
            result = .failure(error)
            // A part of it would be taken for what the origin sent.
            _ = try? await remove(resource.key)
        }
        if retention != .cached { try await retain(resource, as: retention) }
        try result.get()
    }

    private func copy(_ source: FileOrigin, as resource: MediaResource, of file: URL) async throws {
        var request = resource.originRequest
        request.context.source = source
        let read = try await resource.current().open(
            ReadRequest(range: nil, origin: request, storesOnlyWhole: true))
        defer { read.cancel() }
        while true {
            if let obstacle = await resource.obstacle(of: read) { throw obstacle.error(importing: file) }
            guard try await read.next() != nil else { break }
        }
        guard await resource.stored()?.isComplete == true else {
            throw StorageObstacle.store(reason: "Parts of it were evicted.").error(importing: file)
        }
    }
}

extension StorageObstacle {
    fileprivate func error(importing file: URL) -> RepriseError {
        let code: RepriseError.Code =
            switch self {
            case .forbidden, .coded: .invalidArgument
            case .store: .storageUnavailable
            default: .storageFull
            }
        return RepriseError(code, "\(file.path) cannot be imported. \(description)")
    }
}
