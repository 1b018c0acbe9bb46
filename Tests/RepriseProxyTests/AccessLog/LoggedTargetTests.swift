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
        ] as [(String, String?, String)]) func whatIsShown(target: String, token: String?, text: String)
    {
        #expect(LoggedTarget.text(target, token: token) == text)
    }
}
