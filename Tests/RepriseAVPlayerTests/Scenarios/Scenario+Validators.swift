#if REPRISE_AVFOUNDATION_STAND_IN
    /// Files that change, and files with a weak validator or none.
    extension Scenario {
        static let validators = [
            changedUnderTwoPlayers, weakTagMoovAtEnd, noValidatorsTwoAtOnce, tagChangesAtTheLastChunk,
        ]

        private static let changedUnderTwoPlayers = Scenario(
            "O17-changed-under-two-players",
            "The file changes while it plays: the old asset fails, a new one plays the new file",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 200_000),
                .cancel("r2"),
                .tick(200),
                .server("A", .version(2), .length(1_500_000), .etag("\"v2\"")),
                .item("B", resource: "A"),
                .probe("b1", by: "B"),
                .waitInfo("b1", contentLength: 1_500_000),
                .waitFinish("b1", bytes: 2),
                .request("b2", by: "B", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("b2", bytes: 1_500_000, version: 2),
                .request("r3", by: "A", .toEnd(from: .currentOffset(of: "r2"))),
                .waitFailure("r3", bytes: 0),
            ])

        private static let weakTagMoovAtEnd = Scenario(
            "O19-weak-tag-moov-at-end",
            "Only a weak tag, moov at the end: the seek in the tick of the cancel is answered",
            resources: [.mp4("A", length: 10_000_000)],
            server: ["A": [.etag("W/\"1\""), .lastModified(nil)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 10_000_000)),
                .waitBytes("r2", atLeast: 16_384),
                .cancel("r2"),
                .request("r3", by: "A", .toEnd(from: 9_900_000, length: 100_000)),
                .waitFinish("r3", bytes: 100_000, within: .ticks(200)),
                .request("r4", by: "A", .toEnd(from: 2, length: 9_999_998)),
                .waitBytes("r4", atLeast: 2_000_000),
                .cancel("r4"),
            ])

        private static let noValidatorsTwoAtOnce = Scenario(
            "O20-no-validators-two-at-once",
            """
            No validators: a block ahead and another item's seek are answered, and the main stream reaches \
            its end
            """,
            resources: [.mp3("A", length: 1_500_000)],
            server: ["A": [.etag(nil), .lastModified(nil)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 300_000),
                .request("b", by: "A", .bytes(from: 400_000, length: 65_536)),
                .waitFinish("b", bytes: 65_536),
                .item("B", resource: "A"),
                .probe("b1", by: "B"),
                .waitFinish("b1", bytes: 2),
                .request("b2", by: "B", .toEnd(from: 900_000, length: 600_000)),
                .waitFinish("b2", bytes: 600_000),
                .waitFinish("r2", bytes: 1_500_000),
            ])

        private static let tagChangesAtTheLastChunk = Scenario(
            "O23-tag-changes-at-the-last-chunk",
            """
            The tag changes for the last chunk: an error, and a new item gets the new file; then restart \
            and offline
            """,
            resources: [.mp3("A", length: 1_500_000)],
            server: ["A": [.etag("\"v1\""), .lastModified("Mon, 01 Jan 2024 00:00:00 GMT")]],
            preload: ["A": [0..<1_483_616]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitInfo("r1", contentLength: 1_500_000),
                .waitFinish("r1", bytes: 2),
                .server("A", .version(2), .etag("\"v2\""), .lastModified("Tue, 02 Jan 2024 00:00:00 GMT")),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitFailure("r2", bytes: .atMost(1_483_616), within: .ticks(1500)),
                .request("r3", by: "A", .toEnd(from: 1_483_616, length: 16_384)),
                .waitFailure("r3", bytes: 0, within: .ticks(1500)),
                .release("A"),
                .item("A2", resource: "A"),
                .probe("q1", by: "A2"),
                .waitInfo("q1", contentLength: 1_500_000),
                .waitFinish("q1", bytes: 2),
                .request("q2", by: "A2", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("q2", bytes: 1_500_000, version: 2),
                .restart(keepDisk: true),
                .network(.offline),
                .item("A3", resource: "A"),
                .probe("p1", by: "A3"),
                .waitFinish("p1", bytes: 2),
                .request("p2", by: "A3", .toEnd(from: 0, length: 1_500_000)),
                .waitFinish("p2", bytes: 1_500_000, version: 2),
            ])
    }
#endif
