import TestLimits
import Testing

@testable import RepriseProxy

@Suite(.limit(minutes: 1)) struct LoggedTargetTests {
    @Test(
        arguments: [
            ("/https/a.example/b/c.mp4?x=1", nil, "https://a.example/b/c.mp4"),
            ("/https://a.example/b#c", nil, "https://a.example/b"), ("/HTTP/a.example", nil, "http://a.example"),
            ("/", nil, "/"), ("/-/status.json?x", nil, "/-/status.json"), ("*", nil, "/*"),
            ("/nonsense", nil, "/nonsense"),
            ("/https/user:password@a.example/b", nil, "https://-@a.example/b"), ("/user:pw@x", nil, "/-@x"),
            // Behind a token.
            ("/sesame/https/a.example/b", "sesame", "https://a.example/b"), ("/sesame/", "sesame", "/"),
            ("/sesame", "sesame", "/"), ("/sesame/-/events", "sesame", "/-/events"),
            ("/sesame/metrics", "sesame", "/metrics"),
            // What may be a mistyped token.
            ("/sesane/https/a.example/b", "sesame", "/-/https/a.example/b"), ("/sesane", "sesame", "/-"),
            ("//sesane/x", "sesame", "/-/x"), ("/https/a.example/b?c", "sesame", "https://a.example/b"),
            ("sesane", "sesame", "/-"),
            // The absolute form (RFC 9112 §3.2.2), and the token in other places and spellings.
            ("http://127.0.0.1:8090/sesame/https/a.example/b?x", "sesame", "http://127.0.0.1:8090/-/https/a.example/b"),
            ("http://h/%73esam%65/https/a.example/b", "sesame", "http://h/-/https/a.example/b"),
            ("http://h/sesame%2Fhttps/a.example/b", "sesame", "http://h/-/a.example/b"),
            ("/https/sesame/b", "sesame", "https://-/b"), ("/sesame/sesame/x", "sesame", "/-/x"),
            ("/sesame/https/a.example/open-sesame.mp4", "sesame", "https://a.example/open-sesame.mp4"),
            ("/https/a.example/b%zz", "sesame", "https://a.example/b%zz"),
            ("/https/a.example//b/", "sesame", "https://a.example//b/"), ("/%zz/x", "%zz", "/x"),
            ("http://h/%zz/x", "%zz", "http://h/-/x"),
        ] as [(String, String?, String)]) func whatIsShown(target: String, token: String?, text: String)
    {
        #expect(LoggedTarget.text(target, hiding: token.map { [$0] } ?? []) == text)
    }
}
