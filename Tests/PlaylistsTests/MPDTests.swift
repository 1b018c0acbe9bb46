import Playlists
import TestLimits
import Testing

@Suite("MPDs", .limit(minutes: 1)) struct MPDTests {
    static let path = MPD.Path(period: 0, adaptationSet: 0, representation: 0)
    static let url = "https://a.example/d/m.mpd"

    private func mpd(_ text: String) throws -> MPD { try MPD(Array(text.utf8)) }

    /// An MPD with one representation.
    private func single(_ segments: String, period: String = "", base: String = "") -> String {
        """
        <MPD mediaPresentationDuration="PT10S">\(base)<Period \(period)><AdaptationSet>\
        <Representation id="r&amp;1" bandwidth="500">\(segments)</Representation></AdaptationSet></Period></MPD>
        """
    }

    private func uris(_ text: String, limit: Int = 1000) throws -> [String] {
        try mpd(text).segments(of: Self.path, base: URIReference(Self.url), limit: limit).map { segment in
            guard case .fetchable(let uri) = segment.target else { return "left alone" }
            return uri.text
        }
    }

    @Test("Facts, periods, sets and representations are read")
    func facts() throws {
        let mpd = try mpd(
            """
            <?xml version="1.0" encoding="UTF-8"?>
            <!-- a comment -->
            <MPD xmlns="urn:mpeg:dash:schema:mpd:2011" xmlns:xlink="http://www.w3.org/1999/xlink" type="dynamic"
              minimumUpdatePeriod="PT2S" timeShiftBufferDepth="PT1H2M3.5S" availabilityStartTime="2026-01-01T00:00:00Z">
              <Location>https://b/m.mpd?a=1&amp;b=2</Location>
              <PatchLocation ttl="60">p.mpp</PatchLocation>
              <Period id="p1" duration="P1DT1S"/>
              <Period id="p2">
                <AdaptationSet contentType="video" mimeType="video/mp4" lang="en" width="640">
                  <ContentProtection schemeIdUri="urn:x"/>
                  <Representation id="v" bandwidth="1000" codecs="avc1" width='1280' height="720"/>
                  <Representation id="w"/>
                </AdaptationSet>
                <EventStream xlink:href="urn:mpeg:dash:resolve-to-zero:2013"/>
              </Period>
              <UTCTiming schemeIdUri="urn:mpeg:dash:utc:http-iso:2014" value="https://t/1 https://t/2"/>
              <UTCTiming schemeIdUri="urn:mpeg:dash:utc:direct:2014" value="2026-01-01T00:00:00Z"/>
            </MPD>
            """)
        #expect(mpd.isDynamic && mpd.minimumUpdatePeriod == 2 && mpd.timeShiftBufferDepth == 3723.5)
        #expect(mpd.periods.map(\.id) == ["p1", "p2"] && mpd.periods.map(\.beginning) == [0, 86_401])
        let set = mpd.periods[1].adaptationSets[0]
        #expect(set.contentType == "video" && set.language == "en" && set.isProtected)
        #expect(set.representations.map(\.id) == ["v", "w"] && set.representations[0].bandwidth == 1000)
        #expect(set.representations.map(\.attributes.width) == [1280, 640])
        #expect(set.representations.map(\.attributes.mimeType) == ["video/mp4", "video/mp4"])
        #expect(
            spans(.dash(mpd)) == [
                "location https://b/m.mpd?a=1&amp;b=2", "patchLocation p.mpp",
                "remoteElement urn:mpeg:dash:resolve-to-zero:2013", "clock https://t/1", "clock https://t/2",
            ])
        #expect(mpd.reference(of: mpd.links[0]).text == "https://b/m.mpd?a=1&b=2")
        #expect(mpd.locations == [0] && mpd.patchLocations == [1])
    }

    @Test("A period becomes a presentation that begins at 0, and lasts for whole seconds")
    func periodAlone() throws {
        let head = "<MPD type='static'"
        let first = "<Period duration='PT10S'><AdaptationSet/></Period>"
        let end = "<Metrics/></MPD>"
        let two = try mpd("\(head) mediaPresentationDuration='PT22.2S'>\(first)<Period id='b' start='PT10S'/>\(end)")
        let texts = try (0..<2).map { String(decoding: try two.presentation(ofPeriod: $0), as: UTF8.self) }
        #expect(
            texts == [
                "\(head) mediaPresentationDuration='PT10S'>\(first)\(end)",
                "\(head) mediaPresentationDuration='PT13S'><Period id='b' />\(end)",
            ])
        let open = try mpd("\(head)>\(first)<Period duration='PT3S'></Period>\(end)")
        #expect(
            String(decoding: try open.presentation(ofPeriod: 1), as: UTF8.self)
                == "\(head) mediaPresentationDuration=\"PT3S\"><Period duration='PT3S'></Period>\(end)")
        let endless = try mpd("\(head)>\(first)<Period></Period>\(end)")
        #expect(
            String(decoding: try endless.presentation(ofPeriod: 1), as: UTF8.self)
                == "\(head)><Period></Period>\(end)")
    }

    @Test("Numbers of lists are found, except where the list ends by them")
    func numbersOfLists() throws {
        let list = "<SegmentList duration='1' startNumber='1'/>"
        let mpd = try mpd(
            """
            <MPD><Period>\(list)<AdaptationSet><SegmentTemplate media='$Number$' startNumber='2'/>\
            <Representation><SegmentList startNumber="3" endNumber="4"/></Representation>\
            <Representation><SegmentList startNumber="5"/></Representation></AdaptationSet></Period></MPD>
            """)
        let numbers = mpd.startNumbersOfLists.map { String(decoding: mpd.bytes[$0], as: UTF8.self) }
        #expect(numbers == ["startNumber='1'", "startNumber=\"5\""])
        let outer = try self.mpd(
            """
            <MPD><Period><SegmentList endNumber="4"/><AdaptationSet><SegmentList startNumber="2"/><Representation/>\
            <Representation><SegmentList startNumber="3"/></Representation></AdaptationSet></Period></MPD>
            """)
        #expect(outer.startNumbersOfLists.isEmpty)
    }

    @Test("Every place of a URL is found")
    func places() throws {
        let text = """
            <MPD><BaseURL>1/</BaseURL><ContentSteering>2</ContentSteering><Period xlink:href='3'><AdaptationSet>\
            <SegmentTemplate media="4" initialization="5" index="6" bitstreamSwitching="7"/>\
            <Representation><SegmentList xlink:href="8"><Initialization sourceURL="9" range="0-99"/>\
            <RepresentationIndex sourceURL="10"/><BitstreamSwitching sourceURL="11"/>\
            <SegmentURL media="12" mediaRange="5-9" index="13" indexRange="1-1"/></SegmentList></Representation>\
            </AdaptationSet></Period><EventStream><Event><ReplacePresentation url="14"/></Event></EventStream>\
            <ImportedMPD>15</ImportedMPD></MPD>
            """
        let mpd = try mpd(text)
        #expect(
            mpd.links.map { "\($0.kind) \(String(decoding: mpd.bytes[$0.place], as: UTF8.self))" } == [
                "baseURL 1/", "steering 2", "remoteElement 3", "mediaTemplate 4", "initializationTemplate 5",
                "indexTemplate 6", "initializationTemplate 7", "remoteElement 8", "map 9", "index 10", "map 11",
                "segment 12", "index 13", "importedMPD 14", "importedMPD 15",
            ])
        #expect(mpd.links[8].extent == .range(0..<100) && mpd.links[11].extent == .range(5..<10))
        #expect(mpd.links[12].extent == .range(1..<2))
        var paths = BasePaths(mpd)
        let based = mpd.links.indices.filter { paths.paths(to: mpd.links[$0]) == [[0]] }
        #expect(based == [3, 4, 5, 6, 8, 9, 10, 11, 12])
        #expect(mpd.links.indices.allSatisfy { based.contains($0) || paths.paths(to: mpd.links[$0]) == [[]] })
    }

    @Test("Case 70: of an absolute template only scheme and host change")
    func absoluteTemplates() throws {
        let template = "https://b.example/$RepresentationID$/$Number%05d$$$.m4s?a=1&amp;b=&#x41;"
        let text = single("<SegmentTemplate media=\"\(template)\"/>")
        #expect(try rewritten(text, url: Self.url) == text.split(separator: "https://").joined(separator: "/https/"))
    }

    @Test("Case 71: bases of each level resolve against the one above; alternatives are all links")
    func bases() throws {
        let text = """
            <MPD><BaseURL/><BaseURL>https://b/x</BaseURL><Period><BaseURL>y/</BaseURL><BaseURL>//c/z/</BaseURL>\
            <AdaptationSet><Representation id="r"><BaseURL> ../f.mp4 </BaseURL></Representation></AdaptationSet>\
            </Period></MPD>
            """
        let mpd = try mpd(text)
        let document = URIReference(Self.url)
        #expect(mpd.baseURLs.map(\.link) == [nil, 0] && mpd.periods[0].baseURLs.map(\.link) == [1, 2])
        #expect(mpd.baseURL(of: Self.path, base: document).text == "https://a.example/d/f.mp4")
        #expect(mpd.baseURL(of: Self.path, base: document, alternative: 1).text == "https://c/f.mp4")
        var paths = BasePaths(mpd)
        let bases = mpd.links.map { link in
            paths.paths(to: link).map { mpd.base(along: $0, documentURL: document).text }
        }
        let outer = [Self.url, "https://b/x"]
        #expect(
            bases == [
                [Self.url], outer, outer, ["https://a.example/d/y/", "https://c/z/", "https://b/y/", "https://c/z/"],
            ])
        #expect(spans(.dash(mpd)).last == "baseURL ../f.mp4")
    }

    @Test("Case 73: what a set or a period says is relative to the base of each representation that inherits it")
    func inheritedLinks() throws {
        let mpd = try mpd(
            """
            <MPD><Period><SegmentTemplate initialization="i"/><AdaptationSet><SegmentTemplate media="m"/>\
            <Representation><BaseURL>a/</BaseURL></Representation>\
            <Representation><BaseURL>b/</BaseURL><SegmentTemplate media="own"/></Representation>\
            <Representation/></AdaptationSet></Period></MPD>
            """)
        var paths = BasePaths(mpd)
        let names = mpd.links.map { String(decoding: mpd.bytes[$0.place], as: UTF8.self) }
        #expect(names == ["i", "m", "a/", "b/", "own"])
        #expect(mpd.links.map { paths.paths(to: $0) } == [[[2], [3], []], [[2], []], [[]], [[]], [[3]]])
    }

    @Test("However many bases there are, eight are looked at")
    func manyBases() throws {
        let bases = String(repeating: "<BaseURL>a/</BaseURL>", count: 40)
        let sets = String(repeating: "<Representation>\(bases)</Representation>", count: 40)
        let text = "<MPD>\(bases)<Period>\(bases)<AdaptationSet>\(bases)<SegmentTemplate media='m'/>\(sets)"
        let mpd = try mpd(text + "</AdaptationSet></Period></MPD>")
        var paths = BasePaths(mpd)
        #expect(mpd.links.map { paths.paths(to: $0).count }.max() == BasePaths.most)
    }

    @Test("Case 73: without a BaseURL, one can be put in as the first child")
    func insertedBase() throws {
        let mpd = try mpd("<?xml version='1.0'?><d:MPD a='>'>\n<d:Period/></d:MPD>")
        var editor = PlaylistEditor(mpd.bytes)
        try editor.insertBaseURL("/https/c/z/?a&b", in: mpd)
        #expect(
            String(decoding: try editor.edited(), as: UTF8.self)
                == "<?xml version='1.0'?><d:MPD a='>'><d:BaseURL>/https/c/z/?a&amp;b</d:BaseURL>\n<d:Period/></d:MPD>")
        let empty = try self.mpd("<MPD/>")
        var none = PlaylistEditor(empty.bytes)
        #expect(failure { try none.insertBaseURL("/", in: empty) }?.code == .misplacedEdit)
    }

    @Test("A document type without declarations is skipped, also with the address of a DTD")
    func documentType() throws {
        for type in [
            "<!DOCTYPE MPD>", "<!DOCTYPE MPD SYSTEM 'a>b.dtd'>", "<!DOCTYPE MPD PUBLIC \"x\" \"/DASH-MPD.dtd\" >",
        ] {
            let mpd = try mpd("\(type)\n<MPD><BaseURL>/a/</BaseURL></MPD>")
            #expect(mpd.baseURLs.count == 1)
        }
    }

    @Test(
        "Case 72: declarations in document types, deep nesting, other encodings and malformed XML are refused",
        arguments: [
            ("<!DOCTYPE x [<!ENTITY a \"b\">]><MPD/>", PlaylistError.Code.documentType),
            ("<!DOCTYPE MPD", .documentType), ("<MPD><!ENTITY a></MPD>", .documentType),
            ("<MPD>" + String(repeating: "<a>", count: 100_000), .tooDeep),
            ("<MPD a=\"" + String(repeating: "x", count: 2 << 20) + "\"/>", .lineTooLong), ("<MPD", .malformedXML),
            ("<MPD>", .malformedXML), ("<MPD></MPX>", .malformedXML), ("<MPD></MPD></MPD>", .malformedXML),
            ("<MPD a></MPD>", .malformedXML), ("<MPD a=b></MPD>", .malformedXML), ("<MPD a='<'/>", .malformedXML),
            ("<MPD/><MPD/>", .notAPlaylist), ("<a/>", .notAPlaylist), ("<MPD/>x", .malformedXML),
            ("<MPD><!-- ", .malformedXML), ("<MPD><![CDATA[", .malformedXML), ("<MPD>< a/></MPD>", .malformedXML),
            ("<MPD></MPD a='b'>", .malformedXML), ("<\u{0}M\u{0}P\u{0}D\u{0}/\u{0}>\u{0}", .encoding),
        ])
    func hostileDocuments(text: String, code: PlaylistError.Code) {
        #expect(failure { _ = try mpd(text) }?.code == code)
    }

    @Test("Case 72: UTF-16 is refused; text in CDATA, or mixed with comments, is read and written as a whole")
    func otherTexts() throws {
        #expect(failure { _ = try MPD([0xFF, 0xFE, 0x3C, 0x00]) }?.code == .encoding)
        #expect(failure { _ = try MPD([0xFE, 0xFF, 0x00, 0x3C]) }?.code == .encoding)
        for text in [
            " <![CDATA[https://b/?x&y]]> ", "https://<!-- x -->b/?x<?p?>&amp;y", "<!-- --> https://b/?x&amp;y",
        ] {
            let mpd = try mpd("<MPD><BaseURL>\(text)</BaseURL></MPD>")
            let link = try #require(mpd.links.first)
            #expect(mpd.reference(of: link).text == "https://b/?x&y")
            var editor = PlaylistEditor(mpd.bytes)
            try editor.replace(link, with: "https://b/?x&y")
            #expect(editor.isUnchanged)
            try editor.replace(link, with: "/b?<&")
            let edited = String(decoding: try editor.edited(), as: UTF8.self)
            #expect(edited.trimmingPrefix("<MPD><BaseURL>").trimmingPrefix(" ").hasPrefix("/b?&lt;&amp;"), "\(edited)")
            #expect(!edited.contains("CDATA") && !edited.contains("<!--"))
        }
        #expect(failure { _ = try mpd("<MPD><BaseURL>https://b/<x/></BaseURL></MPD>") }?.code == .malformedXML)
        #expect(try mpd("<MPD><Location>https://b/<x/></Location></MPD>").links.isEmpty)
    }

    @Test("Elements of other namespaces are not read; those of the root's prefix are")
    func otherNamespaces() throws {
        let text = """
            <d:MPD xmlns:x="urn:y"><d:BaseURL>1</d:BaseURL><d:Event><x:BaseURL>https://2/</x:BaseURL>\
            <BaseURL>https://3/</BaseURL></d:Event></d:MPD>
            """
        #expect(spans(.dash(try mpd(text))) == ["baseURL 1"])
    }

    @Test("MPDs to go on with are links: chained ones, fallbacks, and alternatives by either name")
    func otherMPDs() throws {
        let text = """
            <MPD><SupplementalProperty schemeIdUri="urn:mpeg:dash:chaining:2016" value="https://a/ https://b/"/>\
            <EssentialProperty schemeIdUri="urn:mpeg:dash:fallback:2016" value="https://c/"/>\
            <EssentialProperty schemeIdUri="urn:other" value="https://d/"/><InitializationSet initialization="https://e/"/>\
            <EventStream><Event><InsertPresentation uri="https://f/"/></Event></EventStream></MPD>
            """
        #expect(
            spans(.dash(try mpd(text))) == [
                "importedMPD https://a/", "importedMPD https://b/", "importedMPD https://c/", "map https://e/",
                "importedMPD https://f/",
            ])
    }

    @Test(
        "Character references and the five entities are decoded once; others stay",
        arguments: [
            ("&amp;amp;", "&amp;"), ("&#65;&#x42;&#X43;", "AB&#X43;"), ("&lt;&gt;&quot;&apos;", "<>\"'"),
            ("&foo;&;&#;&#x;&#xD800;&#x110000;&#0;&", "&foo;&;&#;&#x;&#xD800;&#x110000;&#0;&"), ("&#xE9;", "%C3%A9"),
            ("&#99999999999999;", "&#99999999999999;"),
        ])
    func references(text: String, decoded: String) throws {
        let mpd = try mpd("<MPD><BaseURL>\(text)</BaseURL></MPD>")
        // A number sign begins a fragment; the text is what counts here.
        #expect(mpd.reference(of: mpd.links[0]).text == decoded)
    }

    @Test("A template with a duration lists the segments of its period")
    func numberedTemplates() throws {
        let template =
            "<SegmentTemplate media=\"$RepresentationID$-$Bandwidth$-$Number%03d$$$.m4s\" duration=\"4\" startNumber=\"9\""
        let names = ["009", "010", "011"].map { "https://a.example/d/r&1-500-\($0)$.m4s" }
        #expect(try uris(single(template + "/>")) == names)
        #expect(try uris(single(template + " endNumber=\"10\"/>")) == Array(names.prefix(2)))
        #expect(try uris(single(template + "/>", period: "duration='PT4S'")) == Array(names.prefix(1)))
        let segments = try mpd(single(template + "/>")).segments(of: Self.path, base: URIReference(Self.url))
        #expect(segments.map(\.start) == [0, 4, 8] && segments.map(\.duration) == [4, 4, 2])
    }

    @Test("A timeline lists times; runs repeat, and a last one fills the period")
    func timelines() throws {
        let timeline = """
            <SegmentTemplate media="$Time$" initialization="$RepresentationID$.mp4" timescale="10" presentationTimeOffset="5">\
            <SegmentTimeline><S t="5" d="20" r="1"/><S d="10"/><S t="60" d="15" r="-1"/></SegmentTimeline></SegmentTemplate>
            """
        let text = single(timeline)
        #expect(
            try uris(text).map { $0.dropFirst("https://a.example/d/".count) } == ["5", "25", "45", "60", "75", "90"])
        let mpd = try mpd(text)
        #expect(
            mpd.initialization(of: Self.path, base: URIReference(Self.url))?.target
                == .fetchable(URIReference("https://a.example/d/r&1.mp4")))
        #expect(try mpd.segments(of: Self.path, base: URIReference(Self.url)).map(\.start).prefix(3) == [0, 2, 4])
    }

    @Test("Attributes of a template come from outer levels")
    func inheritance() throws {
        let text = """
            <MPD mediaPresentationDuration="PT4S"><Period><SegmentTemplate duration="2" timescale="1" media="out-$Number$"/>\
            <AdaptationSet><SegmentTemplate startNumber="5"/><Representation id="r"><SegmentTemplate media="in-$Number$"/>\
            </Representation></AdaptationSet></Period></MPD>
            """
        #expect(try uris(text) == ["https://a.example/d/in-5", "https://a.example/d/in-6"])
    }

    @Test("Lists of segments and single files are listed")
    func listsAndFiles() throws {
        let list = """
            <SegmentList duration="5"><Initialization range="0-9"/><SegmentURL media="a" mediaRange="10-19"/>\
            <SegmentURL mediaRange="20-"/></SegmentList>
            """
        let text = single("<BaseURL>f.mp4</BaseURL>" + list)
        #expect(try uris(text) == ["https://a.example/d/a", "https://a.example/d/f.mp4"])
        let mpd = try mpd(text)
        #expect(
            try mpd.segments(of: Self.path, base: URIReference(Self.url)).map(\.extent) == [.range(10..<20), .from(20)])
        #expect(mpd.initialization(of: Self.path, base: URIReference(Self.url))?.extent == .range(0..<10))
        #expect(
            try uris(single("<BaseURL>f.mp4</BaseURL><SegmentBase indexRange=\"0-9\"/>")) == [
                "https://a.example/d/f.mp4"
            ])
    }

    @Test(
        "Case 75: what has no end says so",
        arguments: [
            ("<SegmentTemplate media=\"$Number$\" duration=\"1\"/>", PlaylistError.Code.endless),
            (
                "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"-1\"/></SegmentTimeline></SegmentTemplate>",
                .endless
            ),
            (
                "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"1\" r=\"9007199254740992\"/></SegmentTimeline></SegmentTemplate>",
                .endless
            ),
            (
                "<SegmentTemplate media=\"$Time$\"><SegmentTimeline><S d=\"0\"/></SegmentTimeline></SegmentTemplate>",
                .incompleteTemplate
            ),
            ("<SegmentTemplate media=\"$Number$\"/>", .incompleteTemplate),
            ("<SegmentTemplate duration=\"1\"/>", .incompleteTemplate),
        ])
    func endlessLists(segments: String, code: PlaylistError.Code) throws {
        let text = single(segments).split(separator: " mediaPresentationDuration=\"PT10S\"").joined()
        #expect(failure { _ = try uris(text, limit: 100) }?.code == code)
    }

    @Test("Case 74: patches and elements that lie elsewhere are links like others")
    func patches() throws {
        let mpd = try mpd("<Patch><add sel=\"/MPD\"><BaseURL>https://b/</BaseURL></add></Patch>")
        #expect(mpd.root == .patch && spans(.dash(mpd)) == ["baseURL https://b/"] && mpd.periods.isEmpty)
    }
}
