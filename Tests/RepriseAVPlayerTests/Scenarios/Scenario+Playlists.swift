#if REPRISE_AVFOUNDATION_STAND_IN
    /// Playlists, what they name, and URLs that the delegate leaves to the player.
    extension Scenario {
        static let playlists = [livePlaylistAndKey, askedForOtherURLs, playlistWithoutAnExtension]

        private static let livePlaylistAndKey = Scenario(
            "O28-live-playlist-and-key",
            "A playlist that another one names grows, and a key changes, within one item",
            resources: [
                .playlist("P", length: 900),
                .playlist("V", length: 2000),
                .contentKey("K", length: 16),
                .segment("T", length: 900_000),
            ],
            server: ["V": [.cacheControl("max-age=1")]],
            steps: [
                .item("P"),
                .request("p1", by: "P", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("p1", contentType: "public.m3u-playlist", contentLength: 900),
                .waitFinish("p1", bytes: 900),
                .request("v1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "V"),
                .waitInfo("v1", contentType: "public.m3u-playlist", contentLength: 2000),
                .waitFinish("v1", bytes: 2000, version: 1),
                .request(
                    "k1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "K",
                    allowedTypes: [
                        "com.apple.streamingkeydelivery.contentkey",
                        "com.apple.streamingkeydelivery.persistent-content-key",
                    ]),
                .waitInfo("k1", contentType: "com.apple.streamingkeydelivery.contentkey"),
                .waitFinish("k1", bytes: 16, version: 1),
                .request("t1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "T"),
                .expectRedirect("t1"),
                .tick(seconds: 6),
                .server("V", .version(2), .length(2600), .etag("\"v2\"")),
                .server("K", .version(2), .etag("\"k2\"")),
                .request("v2", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "V"),
                .waitInfo("v2", contentType: "public.m3u-playlist", contentLength: 2600),
                .waitFinish("v2", bytes: 2600, version: 2),
                .request("k2", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "K"),
                .waitFinish("k2", bytes: 16, version: 2),
                .expectCached("K"),
                .expectNetwork(resource: "T", requests: .atMost(0)),
            ])

        private static let askedForOtherURLs = Scenario(
            "O29-asked-for-other-urls",
            "The delegate is asked for http URLs and for others than its asset's, and leaves them to the player",
            resources: [
                .mp3("A", length: 1_500_000),
                .mp3("B", length: 400_000),
                .playlist("P", length: 2000),
                .segment("T", length: 900_000),
            ],
            steps: [
                .item("A"),
                .request("r1", by: "A", .toEnd(from: 0, length: .max), information: true),
                .waitBytes("r1", atLeast: 100_000),
                .declinedProbe("u1", by: "A", resource: "A", direct: true),
                .declinedProbe("u2", by: "A", resource: "B", direct: true),
                .declinedProbe("u3", by: "A", resource: "B"),
                .waitFinish("r1", bytes: 1_500_000),
                .expectNetwork(resource: "B", requests: .atMost(0)),
                .item("P"),
                .request("p1", by: "P", .toEnd(from: 0, length: .max), information: true),
                .waitFinish("p1", bytes: 2000),
                .request("t1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "T"),
                .expectRedirect("t1"),
                .declinedProbe("u4", by: "P", resource: "T", direct: true),
                .declinedProbe("u5", by: "P", resource: "P", direct: true),
                .expectOutstanding(0, of: "P"),
                .expectNetwork(resource: "T", requests: .atMost(0)),
            ])

        private static let playlistWithoutAnExtension = Scenario(
            "O30-playlist-without-an-extension",
            """
            A URL without an extension turns out to be a playlist: what it names is loaded or redirected, \
            and it may grow
            """,
            resources: [
                .playlist("P", pathExtension: "", length: 2000),
                .playlist("V", length: 900),
                .segment("T", length: 900_000),
            ],
            steps: [
                .item("P"),
                .request("p1", by: "P", .toEnd(from: 0, length: .max), information: true),
                .request("p2", by: "P", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("p1", contentType: "public.m3u-playlist", contentLength: 2000),
                .waitFinish("p1", bytes: 2000),
                .waitFinish("p2", bytes: 2000),
                .expectNetwork(resource: "P", duplicateBytes: 0),
                .request("v1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "V"),
                .waitInfo("v1", contentType: "public.m3u-playlist", contentLength: 900),
                .waitFinish("v1", bytes: 900),
                .request("t1", by: "P", .toEnd(from: 0, length: .max), information: true, resource: "T"),
                .expectRedirect("t1"),
                .server("P", .version(2), .length(2600), .etag("\"p2\"")),
                .request("p3", by: "P", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("p3", contentType: "public.m3u-playlist", contentLength: 2600),
                .waitFinish("p3", bytes: 2600, version: 2),
                .request("p4", by: "P", .bytes(from: 1000, length: 100)),
                .waitFinish("p4", bytes: 100, version: 2),
                .server("P", .version(3), .length(2700), .etag("\"p3\"")),
                .item("Q", resource: "P"),
                .request("q1", by: "Q", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("q1", contentType: "public.m3u-playlist", contentLength: 2700),
                .waitFinish("q1", bytes: 2700, version: 3),
            ])
    }
#endif
