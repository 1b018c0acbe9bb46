import Playlists
import TestLimits
import Testing

@Suite("Variables", .limit(minutes: 1)) struct VariableTests {
    static let base = "#EXT-X-DEFINE:NAME=\"base\",VALUE=\"https://b.example/v\"\n"

    @Test("Case 25: a variable is expanded where a link is rewritten, and its definition stays")
    func variablesAreExpanded() throws {
        #expect(try rewrittenLine("{$base}/s.ts", before: Self.base) == "/https/b.example/v/s.ts")
    }

    @Test("Case 26: a definition counts from its line on")
    func definitionsAfterUse() throws {
        let text = "#EXTM3U\n#EXTINF:4,\n{$base}/1.ts\n\(Self.base)#EXTINF:4,\n{$base}/2.ts\n"
        let list = try hls(text)
        #expect(list.links.map(\.obstacle) == [.undefinedVariable, nil])
        #expect(list.problems.map(\.code) == [.undefinedVariable] && list.problems.map(\.line) == [3])
        #expect(try rewritten(text).contains("\n{$base}/1.ts\n"))
        #expect(
            list.target(of: list.links[0], base: URIReference(listURL))
                == .leftAlone(.unreadable(.undefinedVariable)))
    }

    @Test("Case 26: of two definitions the first counts, and a value is not expanded")
    func doubleAndNestedDefinitions() throws {
        let nested = "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"x{$base}\"\n"
        let list = try hls(mediaList("{$base}/{$a}", before: Self.base + Self.base + nested))
        #expect(list.problems.map(\.code) == [.duplicateVariable])
        #expect(list.reference(of: list.links[0]).text == "https://b.example/v/x{$base}")
        let line = try rewrittenLine("{$base}/{$a}", before: Self.base + nested)
        #expect(line == "/https/b.example/v/x%7B$base}")
    }

    @Test("Case 27: IMPORT takes the parent's variables, and leaves links alone without a parent")
    func imports() throws {
        let text = mediaList("{$base}/s.ts", before: "#EXT-X-DEFINE:IMPORT=\"base\"\n")
        let parent = try hls("#EXTM3U\n" + Self.base)
        #expect(try rewritten(text, imported: parent.variables).hasSuffix("/https/b.example/v/s.ts\n"))
        #expect(try rewritten(text) == text)
        #expect(try hls(text).problems.map(\.code) == [.undefinedVariable, .undefinedVariable])
    }

    @Test(
        "Case 28: QUERYPARAM reads the final URL, percent-decoded",
        arguments: [("?token=a%2Fb", "a/b"), ("?x&token=c", "c")])
    func queryParameters(query: String, value: String) throws {
        let text = mediaList("s.ts?t={$token}", before: "#EXT-X-DEFINE:QUERYPARAM=\"token\"\n")
        let list = try hls(text, url: listURL + query)
        #expect(list.variables["token"] == value)
        #expect(list.reference(of: list.links[0]).text == "s.ts?t=\(value)")
        #expect(try hls(text, url: listURL + "?token=").problems.count == 2)
    }

    @Test("Case 29: a megabyte of references to a megabyte is refused")
    func amplification() throws {
        let long = String(repeating: "v", count: 1 << 20 - 200)
        let bomb = "#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(long)\"\n"
        let list = try hls(mediaList(String(repeating: "{$a}", count: 250_000), before: bomb))
        #expect(list.links.map(\.obstacle) == [.expansionTooLong])
        let value = String(repeating: "v", count: 60_000)
        let lines = String(repeating: "#EXTINF:4,\n{$a}\n", count: 60_000)
        let error = failure { _ = try hls("#EXTM3U\n#EXT-X-DEFINE:NAME=\"a\",VALUE=\"\(value)\"\n" + lines) }
        #expect(error?.code == .expansionTooLong)
    }

    @Test("Variables stand in quoted strings, too; elsewhere braces are text")
    func quotedStrings() throws {
        let list = try hls(
            """
            #EXTM3U
            #EXT-X-DEFINE:NAME="g",VALUE="group"
            #EXT-X-MEDIA:TYPE=AUDIO,GROUP-ID="{$g}-1",NAME="{$} {$ g} {$g",URI="{$g}.m3u8"
            """)
        #expect(list.multivariant.renditions[0].groupID == "group-1")
        #expect(list.multivariant.renditions[0].name == "{$} {$ g} {$g")
        #expect(list.reference(of: list.links[0]).text == "group.m3u8")
    }

    @Test(
        "A definition needs a name and one source",
        arguments: [
            "NAME=\"a\"", "VALUE=\"a\"", "NAME=\"a b\",VALUE=\"c\"", "NAME=\"\",VALUE=\"c\"", "NAME=a,VALUE=\"c\"",
        ])
    func invalidDefinitions(attributes: String) throws {
        let list = try hls("#EXTM3U\n#EXT-X-DEFINE:\(attributes)\n")
        #expect(list.problems.map(\.code) == [.invalidDefinition] && list.variables.isEmpty)
    }
}
