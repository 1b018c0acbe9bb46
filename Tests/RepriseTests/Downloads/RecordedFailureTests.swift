import Foundation
import HTTPTypes
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// Why a download waited or failed last is known to the next process, too.
@Suite(.limit(minutes: 2)) struct RecordedFailureTests {
    private static var encryption: CacheEncryption? {
        KeyFile.key(hexadecimal: String(repeating: "07", count: 32)).map { CacheEncryption(key: $0) }
    }

    private static func isEnd(_ event: CacheEvent) -> Bool {
        if case .downloadEnded = event { true } else { false }
    }

    /// Has a download of a URL with a secret fail with `status`, and calls `body` once its cache is closed.
    private static func run(
        status: Int, isSealed: Bool = false,
        _ body: (Bench, (inout MediaCache.Configuration) -> Void) async throws -> Void
    ) async throws {
        let encryption = isSealed ? encryption : nil
        try await Bench.run(configure: { $0.encryption = encryption }) { bench async throws in
            bench.publish("/film?token=secret", length: 10) { $0.status = status }
            let log = EventLog(bench.cache)
            let resource = try bench.cache.resource(for: bench.origin.url("/film?token=secret"))
            try await bench.cache.downloads.add(resource)
            _ = await log.first(isEnd)
            await bench.cache.close()
            try await body(bench) { $0.encryption = encryption }
        }
    }

    @Test("the reason is known after the next opening and to an inspector, without secrets", arguments: [false, true])
    func isKept(isSealed: Bool) async throws {
        try await Self.run(status: 404, isSealed: isSealed) { bench, configure async throws in
            let index = try Data(contentsOf: URL(fileURLWithPath: bench.directory.path + "/catalogue.sqlite"))
            #expect((index.range(of: Data("originRefused".utf8)) == nil) == isSealed)
            var downloads: [Download] = []
            try await bench.reopened(configure: {
                configure(&$0)
                $0.resumesDownloads = false
            }) { downloads = await $0.downloads.list() }
            let encryption = isSealed ? Self.encryption : nil
            downloads += try CacheInspector(directory: bench.directory.path, encryption: encryption).downloads()
            #expect(downloads.count == 2)
            for download in downloads {
                guard case .queued = download.state else {
                    Issue.record("\(download.state)")
                    continue
                }
                let error = try #require(download.lastError)
                #expect(error.code == .originRefused && error.refusal?.head.status == .notFound)
                #expect(error.message.contains("404") && !error.message.contains("secret"), "\(error)")
            }
        }
    }

    @Test("a download that succeeds, or is begun or resumed, has failed with nothing", arguments: 0..<3)
    func isForgotten(way: Int) async throws {
        try await Self.run(status: 404) { bench, configure async throws in
            if way == 0 { bench.publish("/film?token=secret", length: 1000) }
            try await bench.reopened(configure: {
                configure(&$0)
                $0.resumesDownloads = way == 0
            }) { cache async throws in
                let log = EventLog(cache)
                let resource = try cache.resource(for: bench.origin.url("/film?token=secret"))
                switch way {
                case 0: _ = await log.first(Self.isEnd)
                case 1: try await cache.downloads.resume(resource.key)
                default: try await cache.downloads.add(resource)
                }
                #expect(await cache.downloads.list().map { $0.lastError == nil } == [true])
            }
            let downloads = try CacheInspector(directory: bench.directory.path).downloads()
            #expect(downloads.map { $0.lastError == nil } == [true])
        }
    }

    @Test("a paused download keeps the reason until it is resumed") func pauses() async throws {
        try await Self.run(status: 503) { bench, configure async throws in
            func lastCode() throws -> RepriseError.Code? {
                try CacheInspector(directory: bench.directory.path).downloads().first?.lastError?.code
            }
            try await bench.reopened(configure: {
                configure(&$0)
                $0.resumesDownloads = false
            }) { cache async throws in
                let key = try #require(await cache.downloads.list().first?.key)
                try await cache.downloads.pause(key)
                #expect(try lastCode() == .originRefused)
                try await cache.downloads.resume(key)
                #expect(try lastCode() == nil)
            }
        }
    }

    @Test("the remedy is recorded as such, whatever the words")
    func remedy() throws {
        let codec = RecordCodec(vault: nil)
        func read(_ failure: RecordCodec.Failure) throws -> RepriseError {
            try #require(codec.decodeFailure(codec.encode(failure, name: "a"), name: "a")).error
        }
        var failure = RecordCodec.Failure(RepriseError.logIn(.notDownloadable, "A page came"))
        #expect(try read(failure).remedy == .logIn)
        failure.message = "Es kam eine Seite."
        #expect(try read(failure).remedy == .logIn)
        failure.remedy = nil
        #expect(try read(failure).remedy == nil)
        // As a later version may write it.
        failure.remedy = "somethingElse"
        #expect(try read(failure).remedy == nil)
        #expect(try read(RecordCodec.Failure(RepriseError(.originMisbehaved, "No."))).remedy == nil)
    }

    @Test("what is recorded is the error's code, words and status")
    func codec() throws {
        let head = HTTPResponse(status: .unauthorized, headerFields: [.wwwAuthenticate: "Bearer realm=\"secret\""])
        let error = RepriseError(
            .originRefused, "The origin answered 401.",
            refusal: OriginRefusal(head: head, body: Array("secret".utf8), age: nil))
        let codec = RecordCodec(vault: nil)
        let data = try codec.encode(RecordCodec.Failure(error), name: "a")
        #expect(!String(decoding: data, as: UTF8.self).contains("secret"))
        let failure = try #require(codec.decodeFailure(data, name: "a"))
        #expect(codec.decodeFailure(data, name: "b") == nil, "bound to its row")
        #expect(failure.error.code == error.code && failure.error.message == error.message)
        #expect(failure.error.refusal?.head.status == .unauthorized)
        #expect(Download.Obstacle(failure.error) == .authorization)
        var damaged = failure
        damaged.status = 1_000_000
        #expect(damaged.error.refusal == nil)
    }
}
