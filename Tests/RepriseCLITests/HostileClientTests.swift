import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

#if os(Linux)
    /// Clients that take what they can from the real command.
    ///
    /// After each a well-behaved client is served, and the command's memory is printed and bounded.
    @Suite(.serialized, .limit(minutes: 3)) struct HostileClientTests {
        private static let part = 32 << 10

        /// Runs `attack` against a server that has two files stored, then plays as a good client does.
        private static func run(
            _ name: String, options: [String] = [], mayGrowBy growth: Int,
            _ attack: (Serving, Site) async throws -> Void
        ) async throws {
            try await Site.run { site async throws in
                site.publish("/small.mp4", length: Int64(part))
                site.publish("/film.mp4", length: 60 << 20)
                let outcome = try await Serving.run(site.directory, options) { serving async throws in
                    try await serve(serving, site)
                    let film = try RawClient(port: serving.port)
                    try await film.get(site.target("/film.mp4"), ["Connection: close"])
                    _ = try await film.head()
                    #expect(try await film.skip(60 << 20) == 60 << 20)
                    let before = try Process.resident(serving.child.identifier)
                    try await attack(serving, site)
                    let after = try Process.resident(serving.child.identifier)
                    try await serve(serving, site)
                    print("hostile clients, \(name): resident \(before >> 10) → \(after >> 10) KiB")
                    #expect(after - before < growth)
                }
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
        }

        /// A client that behaves.
        private static func serve(_ serving: Serving, _ site: Site) async throws {
            let answer = try await serving.get(site.target("/small.mp4"))
            #expect(answer.head.status == 200)
            #expect(answer.body == TestPattern.bytes(in: 0..<Int64(part), seed: 1))
        }

        /// Sends `text` again and again until the kernel takes no more of it for a while; returns the bytes that it
        /// took.
        private static func flood(_ client: RawClient, _ text: String, upTo limit: Int) async throws -> Int {
            let batch = String(repeating: text, count: max(1, 64 << 10 / text.utf8.count))
            var total = 0
            while total < limit {
                let taken = try await client.sendAvailable(batch)
                total += taken
                if taken == 0, try await !client.canSend(within: 300) { break }
            }
            return total
        }

        @Test func requestsWithoutEndWhoseAnswersAreNotRead() async throws {
            try await Self.run("pipelining without reading", mayGrowBy: 12 << 20) { serving, site async throws in
                let request = "GET \(site.target("/small.mp4")) HTTP/1.1\r\nHost: localhost\r\n\r\n"
                var clients: [RawClient] = []
                for _ in 0..<8 {
                    let client = try RawClient(port: serving.port, receiveBufferSize: 16 << 10)
                    let taken = try await Self.flood(client, request, upTo: 40 << 20)
                    #expect(taken < 40 << 20, "the server stops reading")
                    clients.append(client)
                }
                try await Self.serve(serving, site)
                withExtendedLifetime(clients) {}
            }
        }

        @Test func junkAfterALastRequestWhoseAnswerIsNotRead() async throws {
            try await Self.run("junk after close", mayGrowBy: 12 << 20) { serving, site async throws in
                var clients: [RawClient] = []
                for _ in 0..<8 {
                    let client = try RawClient(port: serving.port, receiveBufferSize: 16 << 10)
                    try await client.get(site.target("/film.mp4"), ["Connection: close"])
                    let taken = try await Self.flood(client, String(repeating: "junk", count: 1024), upTo: 64 << 20)
                    #expect(taken < 64 << 20, "the server does not take it all")
                    clients.append(client)
                }
                try await Self.serve(serving, site)
                withExtendedLifetime(clients) {}
            }
        }

        @Test func clientsThatTakeNothing() async throws {
            try await Self.run("zero window", mayGrowBy: 12 << 20) { serving, site async throws in
                var clients: [RawClient] = []
                for index in 0..<64 {
                    let client = try RawClient(port: serving.port, receiveBufferSize: 4 << 10)
                    // Half of them wait for an origin.
                    try await client.get(site.target(index % 2 == 0 ? "/film.mp4" : "/film.mp4?\(index % 8)"))
                    #expect(try await client.head().status == 200)
                    clients.append(client)
                }
                try await Self.serve(serving, site)
                withExtendedLifetime(clients) {}
            }
        }

        @Test(arguments: [256, 1024])
        func moreClientsThanDescriptors(limit: Int) async throws {
            try await Site.run { site async throws in
                for index in 0..<400 { site.publish("/\(index).ts", length: 40_000) }
                let outcome = try await Serving.run(
                    ["--port", "0", "--cache-dir", site.directory.path], descriptors: limit
                ) { serving async throws in
                    var clients: [RawClient] = []
                    var statuses: [Int: Int] = [:]
                    for index in 0..<400 {
                        guard let client = try? RawClient(port: serving.port) else { break }
                        clients.append(client)
                        // Each keeps its connection and has fetched other files.
                        try await client.get(site.target("/\(index).ts"))
                        guard let head = try? await client.head() else {
                            statuses[0, default: 0] += 1
                            continue
                        }
                        statuses[head.status, default: 0] += 1
                        guard head.status == 200 else { continue }
                        #expect(try await client.body(40_000) == TestPattern.bytes(in: 0..<40_000, seed: 1))
                    }
                    let open = try Process.descriptors(serving.child.identifier)
                    print("hostile clients, descriptor limit \(limit): \(statuses), \(open) open")
                    #expect(statuses[200] ?? 0 > limit / 8)
                    #expect(statuses[503] ?? 0 > 0 || limit > 800, "those beyond the limit are told so")
                    #expect(open < limit)
                    clients = []
                    try await eventually {
                        try Process.descriptors(serving.child.identifier) <= limit / 2
                    }
                    // The server may still have to notice that the last of them have left.
                    try await eventually { try await serving.get(site.target("/1.ts")).head.status == 200 }
                }
                #expect(outcome.exit == .status(0), "\(outcome)")
                if limit < 1024 { #expect(outcome.errors.contains("descriptors"), "\(outcome.errors)") }
            }
        }

        @Test func twoThousandClientsThatWait() async throws {
            guard try Process.raiseDescriptorLimit() >= 2500 else {
                return print("skipped: this process may not have 2,000 connections (ulimit -Hn)")
            }
            try await Self.run(
                "2,000 idle connections", options: ["--max-connections", "4000"], mayGrowBy: 2000 * (16 << 10)
            ) { serving, site async throws in
                var clients: [RawClient] = []
                for index in 0..<2000 {
                    let client = try RawClient(port: serving.port)
                    try await client.get(site.target("/small.mp4"), ["Range: bytes=\(index)-\(index)"])
                    #expect(try await client.head().status == 206)
                    #expect(try await client.body(1).count == 1)
                    clients.append(client)
                }
                try await Self.serve(serving, site)
                withExtendedLifetime(clients) {}
            }
        }
    }

    /// What Linux tells of a process.
    private enum Process {
        /// Resident memory, in bytes.
        static func resident(_ identifier: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
            let match = try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/))
            return try #require(Int(match.1)) << 10
        }

        /// Open descriptors.
        static func descriptors(_ identifier: Int32) throws -> Int {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/\(identifier)/fd").count
        }

        /// Lets this process have as many descriptors as it may; returns how many that are.
        static func raiseDescriptorLimit() throws -> UInt {
            var limit = rlimit()
            try #require(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            limit.rlim_cur = limit.rlim_max
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            return limit.rlim_cur
        }
    }
#endif
