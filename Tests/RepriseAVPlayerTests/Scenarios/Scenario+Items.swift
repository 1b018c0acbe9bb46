#if REPRISE_AVFOUNDATION_STAND_IN
    /// Several items: a queue, and items of one file.
    extension Scenario {
        static let items = [queue, threeItemsOfOneFile]

        private static let queue = Scenario(
            "O05-queue",
            """
            A queue continues without canceling: the next item plays while the old one is released, and \
            nothing of the old one is fetched further
            """,
            resources: [.mp3("A", length: 1_500_000), .mp3("B", length: 900_000)],
            steps: [
                .item("A"),
                .probe("a1", by: "A"),
                .waitFinish("a1", bytes: 2),
                .request("a2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("a2", atLeast: 400_000),
                .item("B"),
                .probe("b1", by: "B"),
                .waitFinish("b1", bytes: 2),
                .request("b2", by: "B", .toEnd(from: 0, length: 900_000)),
                .waitBytes("b2", atLeast: 65_536),
                .cancel("b2"),
                .advance(to: "B"),
                .release("A"),
                .expectDeallocated(.delegate, .requestTable, of: "A"),
                .tick(150),
                .mark,
                .tick(100),
                .expectNetwork(resource: "A", sinceMark: true, bytes: .atMost(0)),
                .request("b3", by: "B", .toEnd(from: .currentOffset(of: "b2"))),
                .waitFinish("b3"),
                .expectOutstanding(0, of: "B"),
                .expectNetwork(duplicateBytes: .atMost(0)),
            ])

        private static let threeItemsOfOneFile = Scenario(
            "O22-three-items-of-one-file",
            "Three items of one file: one fast, one behind, one just ahead; the fast one leaves",
            resources: [.mp3("A", length: 2_000_003)],
            steps: [
                .item("F", resource: "A"),
                .item("L", resource: "A"),
                .item("H", resource: "A"),
                .probe("f1", by: "F"),
                .probe("l1", by: "L"),
                .probe("h1", by: "H"),
                .waitFinish("f1", bytes: 2),
                .waitFinish("l1", bytes: 2),
                .waitFinish("h1", bytes: 2),
                .request("f2", by: "F", .toEnd(from: 0, length: 2_000_003)),
                .waitBytes("f2", atLeast: 300_000),
                .repeated(
                    5, as: "k",
                    [
                        .request("l2_$k", by: "L", .bytes(from: .expression("k*65536+1"), length: 65_536)),
                        .request("h2_$k", by: "H", .bytes(from: .expression("330001+k*65536"), length: 65_536)),
                        .waitFinish("l2_$k", bytes: 65_536, within: .ticks(3)),
                        .waitFinish("h2_$k", bytes: 65_536, within: .ticks(60)),
                    ]),
                .cancel("f2"),
                .request("h3", by: "H", .bytes(from: 657_681, length: 20_000)),
                .request("l3", by: "L", .toEnd(from: 327_681, length: 1_672_322)),
                .waitFinish("h3", bytes: 20_000, within: .ticks(200)),
                .release("F"),
                .waitFinish("l3", bytes: 1_672_322),
                .expectNetwork(
                    uniqueBytes: 2_000_003, duplicateBytes: .atMost(65_536), bytesFromCache: .atLeast(300_000),
                    requests: .atMost(5)),
                .request("h4", by: "H", .toEnd(from: 2_000_002, length: 1)),
                .waitFinish("h4", bytes: 1, within: .ticks(2)),
                .expectOutstanding(0, of: "L"),
                .expectOutstanding(0, of: "H"),
            ])
    }
#endif
