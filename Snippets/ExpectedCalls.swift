// The calls that a Swift programmer would try first, so that they go on compiling.

// snippet.hide
import Foundation
import Reprise
import RepriseHTTPClient

func calls(url: URL, file: URL, directory: URL, log: (Any) -> Void) async throws {
    // snippet.show
    // A cache: where, how large, for how long.
    let origin = NIOOrigin()
    var configuration = MediaCache.Configuration(limit: 5_000_000_000)
    configuration.maximumAge = .seconds(30 * 86_400)
    let cache = try await MediaCache.open(directory: directory, origin: origin, configuration: configuration)
    try await cache.setLimit(2_000_000_000)
    log(cache.limit)
    log(cache.storedBytes)
    log(cache.allocatedBytes.total)
    log(cache.isStoring)

    // A file: by URL, by text, for one user, under a key of its own.
    let film = try cache.resource(for: url)
    _ = try cache.resource(for: "https://example.com/film.mp4")
    _ = try cache.resource(for: url, fields: [.authorization: "Bearer token"])
    _ = try cache.resource(for: url, partition: "account")
    _ = try cache.resource(for: ResourceURL(url), key: CacheKey("film/1"))

    // Bytes: all, a part, in memory, as a sequence, as a file.
    log(try await film.data())
    log(try await film.data(0..<1000))
    log(try await film.data(.suffix(500)))
    for try await piece in try await film.read() { log(try piece.bytes()) }
    for try await piece in try await film.read(0..<1000) { log(piece.count) }
    for try await piece in try await film.read(0...999) { log(piece.count) }
    for try await piece in try await film.read(..<1000) { log(piece.count) }
    for try await piece in try await film.read(1000...) { log(piece.count) }
    try await film.export(to: file)
    try await film.preload(.bytes(1_000_000))
    try await film.preload(.all)

    // What is known of it.
    log(await cache.isCached(url))
    log(await film.isCached)
    log(await film.fileURL() as Any)
    log(await cache.fileURL(for: url) as Any)
    log(await film.storedProgress().fraction)
    for await progress in film.storedProgressUpdates() { log(progress.isComplete) }
    let information = try await film.contentInformation()
    log(information.completeLength as Any)
    log(information.mediaType as Any)
    log(information.responseTime?.timeIntervalSinceNow as Any)

    // Keeping, and importing what was downloaded already.
    try await cache.retain(film, as: .download)
    try await cache.retain(url, as: .pinned)
    try await cache.retain(url, as: .pinned(until: Date() + 86_400))
    try await cache.retain(url, as: .cached)
    try await cache.importFile(at: file, as: url, responseFields: [.contentType: "video/mp4", .eTag: "\"5f3-61\""])

    // A screen of settings: a list, clearing, counts.
    for entry in try await cache.entries() where entry.isComplete {
        log(entry.id)
        log(entry.lastUsed.formatted())
        try await cache.remove(entry.key)
    }
    log(cache.statistics.bytesSaved)
    log(try await cache.lifetimeStatistics().reads)
    log(try await cache.verify().isSound)
    log(try CacheInspector(directory: directory).entries().count)
    try await cache.remove(url)
    try await cache.remove(film)
    try await cache.removeAll()
    try await cache.removeAll(partition: "account")
    try await cache.removeEntries(unusedFor: .seconds(86_400))
    await cache.prune(toSize: 1_000_000_000)

    // Errors and events.
    do { _ = try await film.data() } catch let error as RepriseError where error.code == .originUnreachable {
        log(error.localizedDescription)
    }
    for await event in cache.events() { log(event) }
    await cache.close()
    await origin.shutdown()
    // snippet.hide
}
_ = calls
