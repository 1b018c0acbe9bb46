#if REPRISE_AVFOUNDATION_STAND_IN
    /// Servers that refuse, hang or send too little.
    extension Scenario {
        static let servers = [refused, hangsMidBody, hangsMidBodyAndReleased, eachBodyOneByteShort, twoAtOnceFailAlike]

        private static let refused = Scenario(
            "O11-refused",
            "403: an error in NSURLErrorDomain, nothing stored, and it plays when the server lets it",
            resources: [.mp3("A", length: 1_500_000)],
            server: ["A": [.status(403)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFailure("r1", .badServerResponse, bytes: 0),
                .expectCached("A"),
                .server("A", .status(nil)),
                .probe("r2", by: "A"),
                .waitFinish("r2", bytes: 2),
                .request("r3", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("r3", bytes: 1_500_000),
            ])

        private static let hangsMidBody = Scenario(
            "O16-hangs-mid-body",
            "The server falls silent in mid-body: the player hears of it within two minutes, and goes on later",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .server("A", .hangAfterBytes(300_000)),
                .tick(150),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 300_000),
                .tick(seconds: 100),
                .waitFailure("r2", .timedOut, within: .seconds(119)),
                .server("A", .hangAfterBytes(nil)),
            ])

        private static let hangsMidBodyAndReleased = Scenario(
            "O21-hangs-mid-body-and-released",
            "A server without ranges hangs; another item plays beside it, the first is released and played again",
            resources: [.mp3("A", length: 1_500_000), .mp3("B", length: 800_000)],
            server: ["A": [.ignoresRanges, .hangAfterBytes(200_000)]],
            steps: [
                .item("A"),
                .item("B"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 200_000),
                .probe("b1", by: "B"),
                .waitFinish("b1", bytes: 2, within: .ticks(20)),
                .request("b2", by: "B", .toEnd(from: 0, length: 800_000)),
                .waitFinish("b2", bytes: 800_000, within: .ticks(120)),
                .tick(seconds: 10),
                .request("r3", by: "A", .toEnd(from: 1_000_000, length: 500_000)),
                .tick(3),
                .release("A"),
                .expectNetworkIdle(withinTicks: 200),
                .expectDeallocated(.delegate, .requestTable),
                .expectCached("A", 0..<200_000, orMore: true),
                .server("A", .hangAfterBytes(nil)),
                .item("A2", resource: "A"),
                .probe("q1", by: "A2"),
                .waitInfo("q1", contentLength: 1_500_000),
                .waitFinish("q1", bytes: 2, within: .ticks(600)),
                .request("q2", by: "A2", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("q2", bytes: 1_500_000),
                .expectNetwork(resource: "A", duplicateBytes: .atMost(265_536)),
                .expectOutstanding(0, of: "A2"),
            ])

        private static let eachBodyOneByteShort = Scenario(
            "O27-each-body-one-byte-short",
            "Every response ends a byte too early",
            resources: [.mp3("A", length: 1_500_000)],
            server: ["A": [.truncateAfter(1_499_999)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .either(
                    [.waitFinish("r2", bytes: 1_500_000, within: .ticks(2500))],
                    [.waitFailure("r2", bytes: .atLeast(1_499_999))]),
                .server("A", .truncateAfter(nil)),
                .request("r3", by: "A", .toEnd(from: 1_499_999, length: 1)),
                .waitFinish("r3", bytes: 1, within: .ticks(200)),
                .request("r4", by: "A", .bytes(from: 1_499_998, length: 2)),
                .waitFinish("r4", bytes: 2, within: .ticks(10)),
                .expectNetwork(uniqueBytes: 1_500_000, duplicateBytes: .atMost(65_536), requests: .atMost(4)),
            ])

        private static let twoAtOnceFailAlike = Scenario(
            "O31-two-at-once-fail-alike",
            """
            Two requests at once are refused alike, with domain and code only, and both are answered once \
            the server lets them
            """,
            resources: [.mp3("A", length: 300_000)],
            server: ["A": [.status(403)]],
            steps: [
                .item("A"),
                .request("r1", by: "A", .toEnd(from: 0, length: .max), information: true),
                .request("r2", by: "A", .bytes(from: 100_000, length: 1000)),
                .waitFailure("r1", .badServerResponse),
                .waitFailure("r2", .badServerResponse),
                .expectCached("A"),
                .server("A", .status(nil)),
                .tick(seconds: 6),
                .request("r3", by: "A", .toEnd(from: 0, length: .max), information: true),
                .request("r4", by: "A", .bytes(from: 100_000, length: 1000)),
                .waitFinish("r3", bytes: 300_000),
                .waitFinish("r4", bytes: 1000),
                // The end of the chunk that was under way when the second request began.
                .expectNetwork(resource: "A", duplicateBytes: .atMost(16_384)),
            ])
    }
#endif
