#if REPRISE_AVFOUNDATION_STAND_IN
    /// Content information: how often, for which types, and in which request.
    extension Scenario {
        static let information = [informationAgainAndAgain, allowedTypes, firstRequestIsOpenEnded]

        private static let informationAgainAndAgain = Scenario(
            "O09-information-again-and-again",
            """
            Information is asked for several times, with bytes and without, and is always the same; \
            allowed types are kept to
            """,
            resources: [.m4a("A", length: 800_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .probe("r2", by: "A"),
                .request("r3", by: "A", .none, information: true),
                .waitInfo(
                    "r3", contentType: "com.apple.m4a-audio", contentLength: 800_000, byteRange: true,
                    entireLengthOnDemand: false),
                .waitFinish("r1", bytes: 2),
                .waitFinish("r2", bytes: 2),
                .waitFinish("r3", bytes: 0),
                .expectNetwork(requests: .atMost(1)),
            ])

        private static let allowedTypes = Scenario(
            "O10-allowed-types",
            "Only allowed types are answered: a parent of the type, or a clear failure",
            resources: [.m4a("A", length: 800_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A", allowedTypes: ["public.mpeg-4-audio", "public.mp3"]),
                .waitInfo("r1", contentType: "public.mpeg-4-audio"),
                .waitFinish("r1", bytes: 2),
                .item("B", resource: "A"),
                .probe("r2", by: "B", allowedTypes: ["public.mp3"]),
                .waitFailure("r2", .badServerResponse, bytes: 0),
            ])

        private static let firstRequestIsOpenEnded = Scenario(
            "O13-first-request-is-open-ended",
            "No probe: one request for information and everything, with and without a type from the server",
            resources: [.mp3("A", length: 1_500_000), .untypedFLAC("B", length: 400_000)],
            steps: [
                .item("A"),
                .request("r1", by: "A", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("r1", contentLength: 1_500_000),
                .waitFinish("r1", bytes: 1_500_000),
                .item("B"),
                .request("r2", by: "B", .toEnd(from: 0, length: .max), information: true),
                .waitInfo("r2", contentType: "org.xiph.flac"),
                .waitFinish("r2", bytes: 400_000),
                .expectNetwork(duplicateBytes: 0, requests: .atMost(2)),
            ])
    }
#endif
