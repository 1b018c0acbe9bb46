import Playlists
import TestLimits
import Testing

@Suite("Editing", .limit(minutes: 1)) struct EditorTests {
    private func edited(_ text: String, with uri: String) throws -> String {
        let playlist = try Playlist(Array(text.utf8))
        var editor = PlaylistEditor(playlist.bytes)
        for link in playlist.links { try editor.replace(link, with: uri) }
        #expect(try editor.edited().count == editor.editedCount)
        return String(decoding: try editor.edited(), as: UTF8.self)
    }

    @Test("In a line, what would end it or make it another is percent-encoded")
    func lines() throws {
        #expect(try edited("#EXTM3U\na\n", with: "#b\r\nc d\"{$e}{f") == "#EXTM3U\n%23b%0D%0Ac%20d\"%7B$e}{f\n")
    }

    @Test("In a quoted string, quotation marks are percent-encoded")
    func quotedStrings() throws {
        #expect(
            try edited("#EXTM3U\n#EXT-X-MAP:URI=\"a\"\n", with: "#b\"\n{$c}")
                == "#EXTM3U\n#EXT-X-MAP:URI=\"#b%22%0A%7B$c}\"\n")
    }

    @Test("In XML, markup becomes references, and the tail that stays is kept as written")
    func xml() throws {
        let text = "<MPD><BaseURL> a?x=1&#38;y&#x26;z </BaseURL><SegmentURL media='b' index=\"c\"/></MPD>"
        #expect(
            try edited(text, with: "<&>\"'\n/a?x=1&y&z")
                == "<MPD><BaseURL> &lt;&amp;&gt;\"'%0A/a?x=1&#38;y&#x26;z </BaseURL>"
                + "<SegmentURL media='&lt;&amp;&gt;\"&apos;%0A/a?x=1&amp;y&amp;z'"
                + " index=\"&lt;&amp;&gt;&quot;'%0A/a?x=1&amp;y&amp;z\"/></MPD>")
    }

    @Test("A tail is not cut inside a reference that stands for several bytes")
    func referencesStayWhole() throws {
        #expect(try edited("<MPD><BaseURL>&#xE9;b</BaseURL></MPD>", with: "/è\u{0}b").contains("/è%00b</BaseURL>"))
        #expect(
            try edited("<MPD><BaseURL>&#xE9;b</BaseURL></MPD>", with: "/éb") == "<MPD><BaseURL>/&#xE9;b</BaseURL></MPD>"
        )
        // é is C3 A9, © is C2 A9.
        #expect(try edited("<MPD><BaseURL>&#xE9;b</BaseURL></MPD>", with: "©b") == "<MPD><BaseURL>©b</BaseURL></MPD>")
    }

    @Test("Parts can be taken out and put in, in any order")
    func removingAndInserting() throws {
        var editor = PlaylistEditor(Array("0123456789".utf8))
        #expect(editor.isUnchanged)
        try editor.insert("c", at: 10)
        try editor.remove(2..<4)
        try editor.insert("a", at: 2)
        try editor.insert("b", at: 0)
        #expect(String(decoding: try editor.edited(), as: UTF8.self) == "b01a456789c")
        try editor.remove(3..<5)
        #expect(failure { _ = try editor.edited() }?.code == .misplacedEdit)
        #expect(failure { try editor.remove(5..<11) }?.code == .misplacedEdit)
        #expect(failure { try editor.insert("x", at: -1) }?.code == .misplacedEdit)
    }

    @Test("Case 29: the output is at most twice the input and a megabyte")
    func outputIsBounded() throws {
        let list = try HLSPlaylist(Array(("#EXTM3U\n" + String(repeating: "a\n", count: 1000)).utf8))
        var editor = PlaylistEditor(list.bytes)
        let long = String(repeating: "x", count: 2000)
        let error = failure { for link in list.links { try editor.replace(link, with: long) } }
        #expect(error?.code == .outputTooLong)
        #expect(editor.editedCount <= 2 * list.bytes.count + 1 << 20)
    }

    @Test("Of a pattern, numbers and times tell the segments of a representation apart")
    func identifiers() throws {
        let text = "<MPD><SegmentTemplate media='$RepresentationID$/$$$Number%05d$-$Bandwidth$-$Time$.m4s'/></MPD>"
        let mpd = try MPD(Array(text.utf8))
        #expect(mpd.identifiers(of: mpd.links[0]) == ["$Number%05d$", "$Time$"])
    }
}
