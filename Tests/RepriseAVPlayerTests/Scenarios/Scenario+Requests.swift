#if REPRISE_AVFOUNDATION_STAND_IN
    /// What players request: jumps, repetitions, cancellations, positions at and beyond the end.
    extension Scenario {
        static let requests = [
            startOfAnMP4, halfAGigabyteBounded, identicalOpenEnded, atAndPastTheEnd, cancelWithoutCallback,
            largestNumbers,
        ]

        private static let startOfAnMP4 = Scenario(
            "O01-start-of-an-mp4-2026",
            "Early cancel after a small first chunk, jump to 64 KiB, then the gap as a bounded request",
            resources: [.mp4("A", length: 158_008_374)],
            server: ["A": [.firstChunk(13_194)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 158_008_374)),
                .waitBytes("r2", atLeast: 13_194),
                .cancel("r2"),
                .request("r3", by: "A", .toEnd(from: 65_536)),
                .waitBytes("r3", atLeast: 118_896),
                .cancel("r3"),
                .request("r4", by: "A", .bytes(from: 13_194, length: 52_342)),
                .waitFinish("r4", bytes: 52_342),
                .request("r5", by: "A", .toEnd(from: .currentOffset(of: "r3"))),
                .waitBytes("r5", atLeast: 4_700_000),
                .expectNetwork(duplicateBytes: .atMost(0), connections: .atMost(4)),
                .cancel("r5"),
                .expectNetworkIdle(withinTicks: 200),
            ])

        private static let halfAGigabyteBounded = Scenario(
            "O02-half-a-gigabyte-bounded",
            "A bounded request of 523 MB streams and stops when it is canceled",
            resources: [.wav("A", length: 523_239_424)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitInfo("r1", contentType: "com.microsoft.waveform-audio", contentLength: 523_239_424),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .bytes(from: 8448, length: 523_230_976)),
                .waitBytes("r2", atLeast: 1_854_360),
                .cancel("r2"),
                .expectQuiet("r2", ticks: 50),
                .expectMemory(maxChunk: 1_048_576, maxReadAheadAfterCancel: 1_048_576),
                .expectNetworkIdle(withinTicks: 200),
                .expectNetwork(duplicateBytes: .atMost(0)),
            ])

        private static let identicalOpenEnded = Scenario(
            "O06-identical-open-ended",
            "The same open-ended request again while the first is open: both are answered",
            resources: [.mp4("A", length: 17_800_000)],
            server: ["A": [.chunk(4096)]],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .bytes(from: 65_536, length: 65_536)),
                .request("r3", by: "A", .bytes(from: 131_072, length: 65_536)),
                .waitFinish("r2", bytes: 65_536),
                .waitFinish("r3", bytes: 65_536),
                .request("r4", by: "A", .toEnd(from: 16_800_000, length: 1_000_000)),
                .waitBytes("r4", atLeast: 100_000),
                .request("r5", by: "A", .toEnd(from: 16_800_000, length: 1_000_000)),
                .waitFinish("r4", bytes: 1_000_000),
                .waitFinish("r5", bytes: 1_000_000),
                .expectNetwork(duplicateBytes: .atMost(0)),
            ])

        private static let atAndPastTheEnd = Scenario(
            "O08-at-and-past-the-end",
            "Requests at and past the end, and of the last byte",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .bytes(from: 1_500_000, length: 65_536)),
                .waitFinish("r2", bytes: 0),
                .request("r3", by: "A", .toEnd(from: 1_500_000, length: .max)),
                .waitFinish("r3", bytes: 0),
                .request("r4", by: "A", .bytes(from: 2_000_000, length: 10)),
                .waitFinish("r4", bytes: 0),
                .request("r5", by: "A", .bytes(from: 1_499_999, length: 65_536)),
                .waitFinish("r5", bytes: 1),
                .repeated(
                    5, as: "n",
                    [
                        .request("z$n", by: "A", .toEnd(from: 1_499_999, length: 1)),
                        .waitFinish("z$n", bytes: 1),
                    ]),
                .request("r6", by: "A", .bytes(from: 1_400_000, length: .max)),
                .waitFinish("r6", bytes: 100_000),
                .expectNoOverflow,
                .expectNetwork(duplicateBytes: .atMost(65_536)),
            ])

        private static let cancelWithoutCallback = Scenario(
            "O12-cancel-without-callback",
            "A request given up without a word gets nothing more",
            resources: [.mp3("A", length: 1_500_000)],
            steps: [
                .item("A"),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .toEnd(from: 0, length: 1_500_000)),
                .waitBytes("r2", atLeast: 200_000),
                .cancel("r2", callback: false),
                .tick(2),
                .expectQuiet("r2", ticks: 50),
                .request("r3", by: "A", .toEnd(from: .currentOffset(of: "r2"))),
                .waitFinish("r3"),
            ])

        private static let largestNumbers = Scenario(
            "O26-largest-numbers",
            "The largest lengths and offsets, the last byte, and requests past the end",
            resources: [.mp3("A", length: 1_500_001)],
            steps: [
                .item("A"),
                .request("r0", by: "A", .bytes(from: 1_500_000, length: .max), information: true),
                .waitInfo("r0", contentLength: 1_500_001),
                .waitFinish("r0", bytes: 1),
                .probe("r1", by: "A"),
                .waitFinish("r1", bytes: 2),
                .request("r2", by: "A", .bytes(from: 1_500_000, length: 2)),
                .waitFinish("r2", bytes: 1),
                .request("r3", by: "A", .bytes(from: 1_000_000, length: .max)),
                .waitFinish("r3", bytes: 500_001),
                .request("r4", by: "A", .toEnd(from: 1_499_999, length: 1)),
                .waitFinish("r4", bytes: 2),
                .request("r5", by: "A", .bytes(from: 0, length: .max)),
                .waitBytes("r5", atLeast: 200_000),
                .cancel("r5"),
                .request("r6", by: "A", .bytes(from: .currentOffset(of: "r5"), length: .max)),
                .waitFinish("r6"),
                .either(
                    [
                        .request("r7", by: "A", .bytes(from: 1_500_001, length: 1)),
                        .waitFinish("r7", bytes: 0),
                    ],
                    [.waitFailure("r7", bytes: 0)]),
                .either(
                    [
                        .request("r8", by: "A", .toEnd(from: 1_500_001, length: .max)),
                        .waitFinish("r8", bytes: 0),
                    ],
                    [.waitFailure("r8", bytes: 0)]),
                .either(
                    [
                        .request("r9", by: "A", .bytes(from: 9_223_372_036_854_775_806, length: .max)),
                        .waitFinish("r9", bytes: 0),
                    ],
                    [.waitFailure("r9", bytes: 0)]),
                .expectNoOverflow,
                .expectNetwork(uniqueBytes: 1_500_001, duplicateBytes: .atMost(65_536)),
                .expectOutstanding(0, of: "A"),
            ])
    }
#endif
