#if REPRISE_AVFOUNDATION_STAND_IN
    /// Stored bytes, and what a restart leaves of them.
    extension Scenario {
        static let storedBytes = [islands, emptyDiskAfterRestart, notStoredByOrder, restartBetweenProbeAndData]

        private static let islands = Scenario(
            "O03-islands",
            "Stored islands are given at once, and each hole is fetched once",
            resources: [.mp3("A", length: 1_500_000)],
            preload: ["A": [0..<100_000, 500_000..<600_000]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .mark,
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("r2", bytes: 1_500_000),
                .expectNetwork(
                    sinceMark: true, uniqueBytes: 1_300_000, duplicateBytes: 0, bytesFromCache: .atLeast(200_000)),
                .expectCached("A", 0..<1_500_000),
            ])

        private static let emptyDiskAfterRestart = Scenario(
            "O14-empty-disk-after-restart",
            "After a restart on an empty disk everything is fetched again; after one on the same disk nothing is",
            resources: [.mp3("A", length: 700_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 700_000)),
                .waitFinish("r2", bytes: 700_000),
                .restart(keepDisk: true),
                .mark,
                .item("B", resource: "A"),
                .probe("q1", by: "B"),
                .waitInfo("q1", entireLengthOnDemand: true),
                .waitFinish("q1", bytes: 2),
                .request("q2", by: "B", .toEnd(from: 0, length: 700_000)),
                .waitFinish("q2", bytes: 700_000),
                .expectNetwork(sinceMark: true, requests: .atMost(0)),
                .restart(keepDisk: false),
                .mark,
                .item("C", resource: "A"),
                .probe("s1", by: "C"),
                .waitFinish("s1", bytes: 2),
                .request("s2", by: "C", .toEnd(from: 0, length: 700_000)),
                .waitFinish("s2", bytes: 700_000),
                .expectNetwork(sinceMark: true, bytes: 700_000),
            ])

        private static let notStoredByOrder = Scenario(
            "O15-not-stored-by-order",
            "no-store: it bypasses the store, plays, and nothing is stored",
            resources: [.mp3("A", length: 500_000)],
            server: ["A": [.cacheControl("no-store")]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitInfo("r1", contentLength: 500_000),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 500_000)),
                .waitBytes("r2", atLeast: 200_000),
                .cancel("r2"),
                .request("r3", by: "A", .toEnd(from: 300_000)),
                .waitFinish("r3", bytes: 200_000),
                .expectCached("A"),
            ])

        private static let restartBetweenProbeAndData = Scenario(
            "O25-restart-between-probe-and-data",
            "A restart between probe and data, the same request twice, and a restart in mid-body",
            resources: [.mp4("A", length: 3_000_001)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .restart(keepDisk: true),
                .item("B", resource: "A"),
                .mark,
                .request("b2", by: "B", .toEnd(from: 0, length: 3_000_001)),
                .probe("b1", by: "B"),
                .request("b3", by: "B", .toEnd(from: 0, length: 3_000_001)),
                .waitInfo("b1", contentType: "public.mpeg-4", contentLength: 3_000_001),
                .waitFinish("b1", bytes: 2),
                .waitBytes("b2", atLeast: 700_001),
                .waitBytes("b3", atLeast: 700_001, withinTicks: 200),
                .expectNetwork(sinceMark: true, duplicateBytes: .atMost(0), requests: .atMost(2)),
                .restart(keepDisk: true),
                .server("A", .chunk(4097)),
                .item("C", resource: "A"),
                .mark,
                .request("c2", by: "C", .toEnd(from: 2, length: 2_999_999)),
                .probe("c1", by: "C"),
                .waitFinish("c1", bytes: 2, within: .ticks(30)),
                .waitBytes("c2", atLeast: 600_000, withinTicks: 60),
                .cancel("c2"),
                .request("c3", by: "C", .toEnd(from: 700_003, length: 2_299_998)),
                .waitFinish("c3", bytes: 2_299_998),
                .expectNetwork(sinceMark: true, duplicateBytes: .atMost(0), requests: .atMost(3)),
                .expectNetwork(uniqueBytes: 3_000_001, duplicateBytes: .atMost(0)),
            ])
    }
#endif
