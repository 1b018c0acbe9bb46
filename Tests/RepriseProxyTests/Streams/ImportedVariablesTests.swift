import Playlists
import Reprise
import TestLimits
import Testing

@testable import RepriseProxy

/// Which variables a media playlist imports (rfc8216bis §4.4.2.3).
@Suite(.limit(minutes: 1)) struct ImportedVariablesTests {
    private static let base = URIReference("https://a.example/main.m3u8")

    private static func note(_ value: String, naming names: [String], in variables: ImportedVariables) throws {
        let streams = names.map { "#EXT-X-STREAM-INF:BANDWIDTH=1\n\($0)\n" }.joined()
        let text = "#EXTM3U\n#EXT-X-DEFINE:NAME=\"v\",VALUE=\"\(value)\"\n\(streams)"
        variables.note(try HLSPlaylist(Array(text.utf8)), from: base)
    }

    private static func value(_ name: String, in variables: ImportedVariables) throws -> String? {
        variables.imported(by: try ResourceURL("https://a.example/\(name)"))?["v"]
    }

    @Test("those of the newest list that names it count", arguments: [false, true]) func newest(isShared: Bool) throws {
        let variables = ImportedVariables(isShared: isShared)
        try Self.note("1", naming: ["a", "b"], in: variables)
        try Self.note("2", naming: ["c", "b"], in: variables)
        #expect(try Self.value("a", in: variables) == "1")
        #expect(try Self.value("c", in: variables) == "2")
        #expect(try Self.value("b", in: variables) == (isShared ? nil : "2"), "one user's may be a secret")
        #expect(try Self.value("d", in: variables) == nil)
        try Self.note("3", naming: ["a", "b"], in: variables)
        #expect(try Self.value("a", in: variables) == (isShared ? nil : "3"))
        try Self.note("2", naming: ["b", "c"], in: variables)
        #expect(try Self.value("c", in: variables) == "2", "the same list again")
    }

    @Test("the oldest list is forgotten when there are too many, and with it that its variables differ")
    func oldest() throws {
        let size = 2 * "https://a.example/b".utf8.count + 2
        let variables = ImportedVariables(isShared: true, maximumBytes: 2 * size)
        try Self.note("1", naming: ["a", "b"], in: variables)
        try Self.note("2", naming: ["b", "c"], in: variables)
        #expect(try Self.value("b", in: variables) == nil)
        try Self.note("2", naming: ["b", "d"], in: variables)
        #expect(try Self.value("a", in: variables) == nil)
        #expect(try Self.value("b", in: variables) == "2")
        #expect(try Self.value("c", in: variables) == "2")
    }
}
