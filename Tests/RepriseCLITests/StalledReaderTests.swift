import Foundation
import RepriseTesting
import TestLimits
import TestSupport
import Testing

#if os(Linux)
    /// A player that pauses: neither memory nor traffic goes on behind its back.
    @Suite(.limit(minutes: 2)) struct StalledReaderTests {
        @Test func aReaderThatStopsReadingStopsTheOriginAndCostsNoMemory() async throws {
            try await Site.run(sendBufferSize: 64 << 10) { site async throws in
                site.publish("/film.mp4", length: 256 << 20)
                site.publish("/other.mp4", length: 256 << 20)
                site.publish("/busy.mp4", length: 16 << 20)
                let outcome = try await Serving.run(site.directory) { serving async throws in
                    // What a first reader and the traffic below make the process allocate is not what is measured.
                    _ = try await Self.stalled(serving, site.target("/other.mp4"))
                    try await Self.keepBusy(serving, site)
                    let before = try Self.residentBytes(serving.child.identifier)
                    let reader = try await Self.stalled(serving, site.target("/film.mp4"))
                    try await Self.keepBusy(serving, site)
                    let after = try Self.residentBytes(serving.child.identifier)
                    let sent = await site.origin.settledSnapshot()["/film.mp4"].bodyBytesSent
                    print("stalled reader: \(sent) bytes sent, resident \(before) → \(after) bytes")
                    // 1 MiB was read. The rest lies in the kernel's buffers between the two, which grow while the
                    // kernel probes whether anybody reads; in this time other readers have got 64 MiB.
                    #expect(sent < 16 << 20)
                    #expect(after - before < 2 << 20)
                    // It goes on where it stopped.
                    #expect(try await reader.skip(8 << 20) == 8 << 20)
                }
                #expect(outcome.exit == .status(0), "\(outcome)")
            }
        }

        /// A client that asks for everything, reads 1 MiB and stops.
        private static func stalled(_ serving: Serving, _ target: String) async throws -> RawClient {
            let reader = try RawClient(port: serving.port, receiveBufferSize: 64 << 10)
            try await reader.get(target)
            #expect(try await reader.head().status == 200)
            #expect(try await reader.skip(1 << 20) == 1 << 20)
            return reader
        }

        /// Traffic that the process and the origin have to handle; whatever was on its way before has arrived
        /// afterwards.
        private static func keepBusy(_ serving: Serving, _ site: Site) async throws {
            for index in 0..<4 {
                let client = try RawClient(port: serving.port)
                try await client.get(site.target("/busy.mp4?\(index)"), ["Connection: close"])
                #expect(try await client.head().status == 200)
                #expect(try await client.skip(16 << 20) == 16 << 20)
            }
        }

        private static func residentBytes(_ identifier: Int32) throws -> Int {
            let status = try String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)
            let match = try #require(status.firstMatch(of: /VmRSS:\s+(\d+) kB/))
            return try #require(Int(match.1)) << 10
        }
    }
#endif
