import Playlists
import TestLimits
import Testing

/// Playlists that need not be read again.
@Suite(.limit(minutes: 1)) struct RememberedPlaylistsTests {
    private static func key(_ generation: String, _ variables: [String: String] = [:]) -> RememberedPlaylists.Key {
        RememberedPlaylists.Key(
            generation: generation, of: listURL,
            context: HLSContext(url: URIReference(listURL), imported: Variables(variables)))
    }

    private static func text(_ lines: Int = 0) -> [UInt8] {
        Array(mediaList("a.ts", before: String(repeating: "# comment\n", count: lines)).utf8)
    }

    @Test("a playlist is read once for each generation and the variables that it imports")
    func keys() throws {
        let playlists = RememberedPlaylists()
        for key in [Self.key("1"), Self.key("1"), Self.key("2"), Self.key("1", ["a": "b"])] {
            #expect(try playlists.playlist(for: key, reading: Self.text()).links.count == 1)
        }
        #expect(playlists.readCount == 3)
        #expect(playlists[Self.key("3")] == nil)
        #expect(try playlists[Self.key("2")]?.get().links.count == 1)
    }

    @Test("why a text is no playlist is remembered, too, but not that its reader left")
    func failures() async throws {
        let playlists = RememberedPlaylists()
        for _ in 0..<2 {
            #expect(throws: PlaylistError.self) { try playlists.playlist(for: Self.key("1"), reading: [0x47]) }
        }
        #expect(playlists.readCount == 1)
        await Task {
            withUnsafeCurrentTask { $0?.cancel() }
            _ = try? playlists.playlist(for: Self.key("2"), reading: Self.text(20_000))
        }.value
        #expect(playlists[Self.key("2")] == nil)
    }

    @Test("each use has the whole budget of the playlist to spend") func budget() throws {
        let playlists = RememberedPlaylists()
        let first = try playlists.playlist(for: Self.key("1"), reading: Self.text())
        #expect(!first.budget.allows(bytes: .max))
        let second = try playlists.playlist(for: Self.key("1"), reading: Self.text())
        #expect(first.budget.isExceeded && !second.budget.isExceeded)
        #expect(second.budget.spent == (0, 0))
        #expect(second.budget.mostSteps == first.budget.mostSteps)
    }

    @Test("those that were used longest ago are forgotten, and a large one is not kept") func capacity() throws {
        let playlists = RememberedPlaylists(maximumSize: 20_000)
        for number in 1...20 {
            _ = try playlists.playlist(for: Self.key("\(number)"), reading: Self.text(100))
            _ = try playlists.playlist(for: Self.key("1"), reading: Self.text(100))
        }
        #expect(playlists.readCount == 20, "the first one is in use all the time")
        #expect(playlists[Self.key("20")] != nil && playlists[Self.key("2")] == nil)
        _ = try playlists.playlist(for: Self.key("large"), reading: Self.text(2000))
        #expect(playlists[Self.key("large")] == nil)
        let kept = (1...20).count { playlists[Self.key("\($0)")] != nil }
        #expect((2...9).contains(kept), "\(kept)")
    }
}
