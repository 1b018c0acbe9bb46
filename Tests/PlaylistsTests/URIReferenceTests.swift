import Playlists
import TestLimits
import Testing

@Suite("URI references", .limit(minutes: 1)) struct URIReferenceTests {
    /// RFC 3986 §5.4.1 and §5.4.2, against `http://a/b/c/d;p?q`.
    static let examples: [(String, String)] = [
        ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"), ("//g", "http://g"), ("?y", "http://a/b/c/d;p?y"), ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"), ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"),
        (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"), ("g;x?y#s", "http://a/b/c/g;x?y#s"),
        ("", "http://a/b/c/d;p?q"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
        ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"),
        ("../../g", "http://a/g"),
        ("../../../g", "http://a/g"), ("../../../../g", "http://a/g"), ("/./g", "http://a/g"),
        ("/../g", "http://a/g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
        ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"),
        ("g/./h", "http://a/b/c/g/h"), ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
        ("g;x=1/../y", "http://a/b/c/y"), ("g?y/./x", "http://a/b/c/g?y/./x"),
        ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
        ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
    ]

    @Test("RFC 3986 §5.4: every example resolves", arguments: examples)
    func exampleResolves(reference: String, expected: String) {
        #expect(URIReference(reference).resolved(against: URIReference("http://a/b/c/d;p?q")).text == expected)
    }

    @Test("RFC 3986 §5.2.3: a base without a path gets a slash; empty segments stay")
    func basesWithoutPath() {
        #expect(URIReference("s.ts").resolved(against: URIReference("http://a")).text == "http://a/s.ts")
        #expect(URIReference("?x").resolved(against: URIReference("http://a?y")).text == "http://a?x")
        #expect(URIReference("x//y").resolved(against: URIReference("http://a//b")).text == "http://a//x//y")
        #expect(URIReference("http://A:80/b/../c").resolved(against: URIReference("x:y")).text == "http://A:80/c")
    }

    @Test("Parts are split, and the scheme is lower case")
    func partsAreSplit() {
        let uri = URIReference("HTTPS://u@h:1/p/q?x?y#z#")
        #expect(uri.scheme == "https" && uri.authority == "u@h:1" && uri.path == "/p/q")
        #expect(uri.query == "x?y" && uri.fragment == "z#")
        #expect(URIReference("?").query == "" && URIReference("a").query == nil)
        #expect(URIReference("1a:b").scheme == nil)
    }

    @Test("A relative path tells how far it climbs")
    func climbIsCounted() {
        let forms: [(String, Int)] = [
            ("a", 0), ("../a", 1), ("a/../..", 1), ("a/b/../../../../c", 2), ("./a/./..", 0), ("..%2f..", 0), ("..", 1),
        ]
        for (text, climb) in forms { #expect(URIReference(text).form == .relativePath(climbing: climb), "\(text)") }
        #expect(URIReference(listURL).directoryDepth == 2)
        #expect(URIReference("https://a.example").directoryDepth == 0)
        #expect(URIReference("").form == .empty && URIReference("?a").form == .query)
        #expect(URIReference("#a").form == .fragment && URIReference("//a").form == .networkPath)
        #expect(URIReference("/a").form == .absolutePath && URIReference("skd://a").form == .absolute)
    }

    @Test("A query parameter is percent-decoded once, and nothing else is")
    func queryValues() {
        let uri = URIReference("http://a/b?x=1&token=a%2Fb+%zz&token=2&e=&flag&n%61me=3")
        func value(_ name: String) -> String? {
            uri.queryValue(Array(name.utf8)).map { String(decoding: $0, as: UTF8.self) }
        }
        #expect(value("token") == "a/b+%zz" && value("x") == "1" && value("e") == "" && value("flag") == "")
        #expect(value("name") == "3" && value("none") == nil)
    }

    /// A plain version of RFC 3986 §5.2.4, step by step.
    static func removingDotSegments(_ path: String) -> String {
        var (input, output) = (Substring(path), "")
        while !input.isEmpty {
            if input.hasPrefix("../") {
                input.removeFirst(3)
            } else if input.hasPrefix("./") || input.hasPrefix("/./") {
                input.removeFirst(2)
            } else if input == "/." {
                input = "/"
            } else if input.hasPrefix("/../") || input == "/.." {
                input = input == "/.." ? "/" : input.dropFirst(3)
                if let slash = output.lastIndex(of: "/") { output = String(output[..<slash]) } else { output = "" }
            } else if input == "." || input == ".." {
                input = ""
            } else {
                let end = input.dropFirst().firstIndex(of: "/") ?? input.endIndex
                output += input[..<end]
                input = input[end...]
            }
        }
        return output
    }

    @Test("RFC 3986 §5.2.4: 20,000 seeded paths as the steps of the RFC give them")
    func pathsFollowTheSteps() {
        var generator = SeededGenerator(state: 3986)
        for _ in 0..<20_000 {
            let pieces = (0..<Int.random(in: 0...8, using: &generator)).map { _ in
                [".", "..", "/", "/", "a", "%2e", "..."].randomElement(using: &generator) ?? ""
            }
            let path = "/" + pieces.joined()
            let result = URIReference("http://h" + path).resolved(against: URIReference("http://h/")).path
            #expect(result == Self.removingDotSegments(path), "\(path)")
        }
    }
}
