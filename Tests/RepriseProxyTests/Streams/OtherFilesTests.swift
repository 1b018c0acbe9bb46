import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import RepriseProxy

/// What is remembered of files that turned out to be no playlists.
@Suite("Files that are no playlists", .limit(minutes: 1)) struct OtherFilesTests {
    /// Metadata of stored responses, each of another generation.
    private static func responses(_ count: Int) async throws -> [ContentInformation] {
        var responses: [ContentInformation] = []
        try await Bench.run { bench async throws in
            bench.publish("/a", length: 100)
            let read = try await bench.cache.resource(for: bench.origin.url("/a")).read()
            _ = try await read.collect()
            for number in 0..<count {
                var information = read.information
                information.generation = "\(number)"
                responses.append(information)
            }
        }
        return responses
    }

    @Test func theLastOnesAreRemembered() async throws {
        let responses = try await Self.responses(5)
        let files = OtherFiles(capacity: 2)
        for (number, response) in responses.enumerated() {
            #expect(!files.contains(response))
            files.note(response)
            for known in responses[max(0, number - 1)...number] { #expect(files.contains(known)) }
        }
        #expect(!files.contains(responses[0]), "their number is bounded")
    }

    @Test func aResponseThatIsNotStoredIsNotRemembered() async throws {
        var response = try #require(try await Self.responses(1).first)
        response.generation = ""
        let files = OtherFiles()
        files.note(response)
        #expect(!files.contains(response))
    }

    @Test("a stored file that turned out to be none has no editor from then on", arguments: [false, true])
    func oneLookIsEnough(isPlaylist: Bool) async throws {
        try await ProxyBench.run { proxy async throws in
            let bytes = Array("\(isPlaylist ? "#EXTM3U" : "ID3")\n#EXTINF:1,\n/1.ts\n".utf8)
            proxy.bench.origin.set(
                TestOrigin.Resource(.bytes(bytes), mediaType: "application/octet-stream", etag: "\"v1\""), at: "/a")
            let cache = proxy.bench.cache
            let filter = PlaylistFilter(
                streams: StreamKnowledge(isShared: false, clock: .system),
                files: FileFinder(cache: cache, items: nil)
            ) { _, _ in }
            let resource = try cache.resource(for: proxy.bench.origin.url("/a"))
            let read = try await resource.read()
            let stored = try await read.collect()
            let editor = try #require(filter.editor(of: read.information, at: resource.url))
            #expect(editor.accepts(stored, of: read.information) == isPlaylist)
            #expect((filter.editor(of: read.information, at: resource.url) != nil) == isPlaylist)
        }
    }
}
