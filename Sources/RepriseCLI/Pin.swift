import ArgumentParser
import ByteRanges
import Foundation
import Reprise
import RepriseHTTPClient

/// `reprise pin`.
struct Pin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Keep what is stored of URLs, whatever else needs room.",
        discussion: """
            What is kept counts against the limit like the rest. When it fails, a URL is kept as it was before. The proxy must not be running on the same directory.

            Examples:
              reprise pin https://example.com/film.mp4
              reprise pin https://example.com/film.mp4 --for 30d
              reprise pin --download https://example.com/film.mp4
            """)

    @OptionGroup var cache: CacheOptions
    @OptionGroup var store: StoreOptions
    @Argument(help: "URLs of the files.")
    var urls: [String]
    @Option(name: .customLong("for"), help: ArgumentHelp("How long, such as 12h or 30d.", valueName: "time"))
    var time: TimeSpan?
    @Flag(help: "Fetch what is missing, now and, if that is broken off, whenever the cache is opened.")
    var download = false

    func validate() throws {
        if urls.isEmpty { throw ValidationError("Name the URLs to keep.") }
        if download, time != nil { throw ValidationError("A download is kept until it is released: leave --for out.") }
    }

    func run() async throws {
        try await Failure.reporting {
            let origin = NIOOrigin()
            let store = try await cache.open(store.configuration(cache), origin)
            let result: Result<Void, any Error>
            do { result = .success(try await pin(in: store)) } catch { result = .failure(error) }
            await store.close()
            await origin.shutdown()
            try result.get()
        }
    }

    private func pin(in store: MediaCache) async throws {
        let until = time.map { Date().timeIntervalSince1970 + $0.duration / .seconds(1) }
        for url in urls {
            let resource = try store.resource(for: url)
            let before = try await store.retention(of: resource)
            do {
                let events = store.events()
                try await store.retain(resource, as: download ? .download : .pinned(until: until))
                if download { try await Self.end(of: resource, url, events) }
            } catch {
                // A download that is repeated in vain stays one.
                if download, before != .download { try await store.retain(resource, as: before) }
                throw error
            }
            print("Kept: \(url)")
        }
    }

    /// Shows how far the download is until it ends.
    private static func end(of resource: MediaResource, _ url: String, _ events: AsyncStream<CacheEvent>) async throws {
        async let _ = show(resource, url)
        try await end(of: resource.key, events)
    }

    private static func show(_ resource: MediaResource, _ url: String) async throws {
        var meter = FetchMeter(url: url, total: nil, isJSON: false)
        var stored: (atFirst: Int64, now: Int64)?
        for await progress in resource.storedProgressUpdates() {
            let bytes = progress.ranges.byteCount
            meter.total = progress.completeLength
            try meter.note(Int(clamping: bytes - (stored?.now ?? 0)), fromStore: stored?.atFirst ?? bytes)
            stored = (stored?.atFirst ?? bytes, bytes)
        }
        meter.clear()
    }

    private static func end(of key: CacheKey, _ events: AsyncStream<CacheEvent>) async throws {
        for await event in events {
            guard case .downloadEnded(key, let error) = event else { continue }
            if let error { throw error }
            return
        }
    }
}

/// `reprise unpin`.
struct Unpin: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Let URLs go again when room is needed.",
        discussion: """
            The proxy must not be running on the same directory.

            Examples:
              reprise unpin https://example.com/film.mp4
              reprise unpin --drop-query-item signature "https://example.com/film.mp4?signature=1f"
            """)

    @OptionGroup var cache: CacheOptions
    @Option(
        help: ArgumentHelp(
            "Query item that is not part of the cache key, as it was given to pin; may be repeated.", valueName: "name")
    )
    var dropQueryItem: [String] = []
    @Argument(help: "URLs of the files.")
    var urls: [String]

    func run() async throws {
        try await Failure.reporting {
            try await cache.withCache(dropping: dropQueryItem) { store in
                var missing: String?
                for url in urls {
                    let resource = try store.resource(for: url)
                    if try await store.retention(of: resource) == .cached { missing = missing ?? url }
                    try await store.retain(resource, as: .cached)
                }
                if let missing { throw RepriseError(.notStored, "Nothing is kept under \(missing). See: reprise list") }
            }
        }
    }
}
