import Reprise
import TestSupport
import Testing

/// Keys for URLs as the services' documents show them.
@Suite struct ServiceKeyTests {
    private struct Example: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let policy: CacheKeyPolicy
        let url: String
        let key: String

        init(_ name: String, _ policy: CacheKeyPolicy, _ url: String, _ key: String) {
            (testDescription, self.policy, self.url, self.key) = (name, policy, url, key)
        }
    }

    private static let examples = [
        Example(
            "Subsonic, token and salt", .subsonic,
            "https://music.example/rest/stream?id=7&maxBitRate=192&format=mp3&u=joe&t=26719a&s=c19b2d&v=1.13.0&c=app&f=json",
            "https://music.example/rest/stream?id=7&maxBitRate=192&format=mp3"),
        Example(
            "OpenSubsonic, key", .subsonic, "https://music.example/rest/getCoverArt?id=al-1&size=300&apiKey=k&c=app",
            "https://music.example/rest/getCoverArt?id=al-1&size=300"),
        Example(
            "Jellyfin", .jellyfin,
            "https://tv.example/Videos/a1/stream.mp4?Static=true&mediaSourceId=a1&deviceId=D&ApiKey=x&PlaySessionId=p&Tag=t",
            "https://tv.example/Videos/a1/stream.mp4?Static=true&mediaSourceId=a1&Tag=t"),
        Example(
            "Plex", .plex,
            "https://plex.example:32400/library/parts/1/2/file.mkv?download=1&X-Plex-Token=x&X-Plex-Client-Identifier=c",
            "https://plex.example:32400/library/parts/1/2/file.mkv?download=1"),
        Example(
            "CloudFront, canned policy", .cloudFront,
            "https://d1.cloudfront.net/a.mp4?size=large&Expires=1767290400&Signature=nit-_~&Key-Pair-Id=K2&Hash-Algorithm=SHA256",
            "https://d1.cloudfront.net/a.mp4?size=large"),
        Example(
            "CloudFront, custom policy", .cloudFront,
            "https://d1.cloudfront.net/a.mp4?Policy=eyJ_&Signature=C&Key-Pair-Id=K2", "https://d1.cloudfront.net/a.mp4"
        ),
        Example(
            "Google Cloud Storage, V4", .googleCloud,
            "https://storage.googleapis.com/b/o.mp4?X-Goog-Algorithm=GOOG4-RSA-SHA256&X-Goog-Credential=c%2F2026&X-Goog-Date=2026"
                + "&X-Goog-Expires=900&X-Goog-SignedHeaders=host&X-Goog-Signature=247a&generation=12",
            "https://storage.googleapis.com/b/o.mp4?generation=12"),
        Example(
            "Google Cloud Storage, V2", .googleCloud,
            "https://storage.googleapis.com/b/o.mp4?GoogleAccessId=a%40b&Expires=1458238630&Signature=VVU",
            "https://storage.googleapis.com/b/o.mp4"),
        Example(
            "Cloud CDN", .googleCloud, "https://cdn.example/o.mp4?Expires=1558131350&KeyName=k&Signature=pe",
            "https://cdn.example/o.mp4"),
        Example(
            "Azure, service", .azure,
            "https://a.blob.core.windows.net/c/film.mp4?sv=2022-11-02&st=2026-11-25&se=2026-11-26&sr=b&sp=r&sip=1.2.3.4&spr=https&sig=Z%3D",
            "https://a.blob.core.windows.net/c/film.mp4"),
        Example(
            "Azure, user delegation", .azure,
            "https://a.blob.core.windows.net/c/film.mp4?snapshot=2026&skoid=o&sktid=t&skt=1&ske=2&sks=b&skv=2022&sv=2022&se=3&sr=b&sp=r&sig=y",
            "https://a.blob.core.windows.net/c/film.mp4?snapshot=2026"),
    ]

    @Test(arguments: examples) private func theItemsThatSignAreDropped(_ example: Example) throws {
        #expect(example.policy.key(for: try ResourceURL(example.url)).text == example.key)
    }

    @Test func whatSelectsAnotherFileStays() throws {
        for policy in [CacheKeyPolicy.subsonic, .jellyfin, .plex, .cloudFront, .googleCloud, .azure] {
            let url = try ResourceURL("https://example.com/stream?id=1&quality=high&track=2")
            #expect(policy.key(for: url).text == url.description)
        }
    }
}
