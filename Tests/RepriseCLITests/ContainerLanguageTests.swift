import Testing

@testable import RepriseCLI

/// Languages of playlists (BCP 47) as ISO 639-2/T and QuickTime have them.
@Suite struct ContainerLanguageTests {
    @Test(
        "ISO 639-2/T",
        arguments: [
            ("en", "eng"), ("de", "deu"), ("pt-BR", "por"), ("zh-Hans", "zho"), ("DE", "deu"), ("nb", "nob"),
            ("eng", "eng"), ("ger", "ger"), ("cmn", "cmn"), ("x-none", "x-none"),
        ])
    func iso(tag: String, code: String) { #expect(ContainerLanguage.iso.name(of: tag) == code) }

    @Test(arguments: [("de", "ger"), ("zh", "chi"), ("en", "eng"), ("fr", "fra"), ("nl-BE", "dut")])
    func quickTime(tag: String, code: String) { #expect(ContainerLanguage.quickTime.name(of: tag) == code) }

    @Test func otherContainersTakeTags() { #expect(ContainerLanguage.tag.name(of: "pt-BR") == "pt-BR") }

    @Test func playlistsAreRenamed() {
        #expect(
            ContainerLanguage.iso.renamed(in: "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"en\",NAME=\"de\",URI=\"en.m3u8\"\n")
                == "#EXT-X-MEDIA:TYPE=AUDIO,LANGUAGE=\"eng\",NAME=\"de\",URI=\"en.m3u8\"\n")
        let set = "<AdaptationSet lang='de' id=\"1\">"
        #expect(ContainerLanguage.iso.renamed(in: set) == "<AdaptationSet lang='deu' id=\"1\">")
    }
}
