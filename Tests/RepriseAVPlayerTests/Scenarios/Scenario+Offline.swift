#if REPRISE_AVFOUNDATION_STAND_IN
    /// The network disconnects and connects again.
    extension Scenario {
        static let offline = [offlineWithAPrefix, networkGoesAndComes, staleAndOffline, offlineProbeAnd403]

        private static let offlineWithAPrefix = Scenario(
            "O04-offline-with-a-prefix",
            """
            Offline: the prefix plays, then -1009 each time the player asks again, cheaply; back online it \
            goes on
            """,
            resources: [.mp3("A", length: 1_500_000)],
            preload: ["A": [0..<600_000]],
            steps: [
                .network(.offline),
                .item("A"),
                .probe("r1", by: "A"),
                .waitInfo("r1", contentType: "public.mp3", contentLength: 1_500_000),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 600_000),
                .waitFailure("r2", .notConnectedToInternet, bytes: 600_000, within: .ticks(100)),
                .repeated(
                    7, as: "k",
                    [
                        .request("x$k", by: "A", .toEnd(from: 600_000)),
                        .waitFailure("x$k", .notConnectedToInternet, bytes: 0, within: .ticks(10)),
                    ]),
                .expectNetwork(bytes: .atMost(0), requests: .atMost(0)),
                .network(.online),
                .request("r3", by: "A", .toEnd(from: 600_000)),
                .waitFinish("r3", bytes: 900_000),
                .expectNetwork(duplicateBytes: 0),
            ])

        private static let networkGoesAndComes = Scenario(
            "O07-network-goes-and-comes",
            "The network goes while a body comes; what arrived is kept, and the player asks again",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 300_000),
                .network(.offline),
                .waitFailure("r2", .notConnectedToInternet, .networkConnectionLost),
                .network(.online),
                .request("r3", by: "A", .toEnd(from: .currentOffset(of: "r2"))),
                .waitFinish("r3"),
                .expectNetwork(uniqueBytes: 1_500_000, duplicateBytes: 0),
            ])

        private static let staleAndOffline = Scenario(
            "O18-stale-and-offline",
            "Stored, stale by HTTP, and no network: it plays all the same",
            resources: [.mp3("A", length: 300_000)],
            server: ["A": [.cacheControl("max-age=1")]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 300_000)),
                .waitFinish("r2", bytes: 300_000),
                .release("A"),
                .restart(keepDisk: true),
                .tick(seconds: 400),
                .network(.offline),
                .mark,
                .item("B", resource: "A"),
                .probe("q1", by: "B"),
                .waitInfo("q1", contentLength: 300_000),
                .waitFinish("q1", bytes: 2, within: .ticks(100)),
                .request("q2", by: "B", .toEnd(from: 0, length: 300_000)),
                .waitFinish("q2", bytes: 300_000, within: .ticks(100)),
                .expectNetwork(sinceMark: true, bytes: .atMost(0)),
            ])

        private static let offlineProbeAnd403 = Scenario(
            "O24-offline-probe-and-403",
            "Offline at the probe, 403, playing, offline again, 403 in the middle, and to the end",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .network(.offline),
                .item("A"),
                .repeated(
                    3, as: "k",
                    [
                        .probe("o$k", by: "A"),
                        .waitFailure("o$k", .notConnectedToInternet, bytes: 0, within: .ticks(100)),
                    ]),
                .expectNetwork(requests: .atMost(0)),
                .network(.online),
                .server("A", .status(403)),
                .probe("f1", by: "A"),
                .waitFailure("f1", bytes: 0, within: .ticks(200)),
                .request("f2", by: "A", .toEnd(from: 0, length: .max), information: true),
                .waitFailure("f2", bytes: 0, within: .ticks(200)),
                .server("A", .status(nil)),
                .probe("r1", by: "A"),
                .waitInfo("r1", contentType: "public.mp3", contentLength: 1_500_000),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 500_000),
                .network(.offline),
                .waitFailure("r2", .notConnectedToInternet, within: .ticks(300)),
                .repeated(
                    6, as: "k",
                    [
                        .request("s$k", by: "A", .toEnd(from: .currentOffset(of: "r2"))),
                        .waitFailure("s$k", .notConnectedToInternet, bytes: .atMost(65_536), within: .ticks(100)),
                    ]),
                .request("c1", by: "A", .bytes(from: 100_001, length: 300_000)),
                .waitFinish("c1", bytes: 300_000, within: .ticks(10)),
                .network(.online),
                .server("A", .status(403)),
                .request("g1", by: "A", .toEnd(from: 450_000, length: 1_050_000)),
                .waitFailure("g1", bytes: .atLeast(40_000), within: .ticks(300)),
                .server("A", .status(nil)),
                .request("g2", by: "A", .toEnd(from: .currentOffset(of: "g1"))),
                .waitFinish("g2"),
                .expectNetwork(uniqueBytes: 1_500_000, duplicateBytes: .atMost(0)),
                .expectCached("A", 0..<1_500_000),
            ])
    }
#endif
