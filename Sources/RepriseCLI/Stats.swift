import ArgumentParser
import Reprise

/// `reprise stats`.
struct Stats: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show how much was served, fetched and saved.",
        discussion: """
            Also works while the proxy runs. Stored bytes are at most a second old; counts and last uses of hits at most \
            a minute.

            Examples:
              reprise stats
              reprise stats --json
            """)

    @Flag(help: "One JSON object, in bytes.")
    var json = false
    @OptionGroup var cache: CacheOptions

    /// The numbers in JSON, in bytes.
    private struct Report: Encodable {
        let entries: Int
        let storedBytes, allocatedBytes, indexBytes, limitBytes: Int64
        let freeBytes: Int64?
        let servedBytes, storeBytes, joinedBytes, originBytes, fetchedBytes, savedBytes: Int64
        let originRequests, reads: Int64
    }

    func run() async throws {
        try await Failure.reporting {
            let inspector = try await cache.inspector()
            let (entries, stored, allocated) = try inspector.totals()
            let (limit, free) = (try inspector.limit(), inspector.freeBytes)
            let statistics = try inspector.statistics()
            if json {
                return try Terminal.printJSON(
                    Report(
                        entries: entries, storedBytes: stored, allocatedBytes: allocated,
                        indexBytes: inspector.indexBytes, limitBytes: limit, freeBytes: free,
                        servedBytes: statistics.bytesServed,
                        storeBytes: statistics.bytesFromStore, joinedBytes: statistics.bytesFromJoinedFetch,
                        originBytes: statistics.bytesFromOrigin, fetchedBytes: statistics.bytesFetched,
                        savedBytes: statistics.bytesSaved, originRequests: statistics.originRequests,
                        reads: statistics.reads))
            }
            let share = statistics.bytesServed > 0 ? Double(statistics.bytesSaved) / Double(statistics.bytesServed) : 0
            try Terminal.print(
                """
                Stored   \("\(ByteCount(stored))".leftPadded(9))  entries: \(entries)
                On disk  \("\(ByteCount(allocated))".leftPadded(9))  index: \(ByteCount(inspector.indexBytes))
                Limit    \("\(ByteCount(limit))".leftPadded(9))  free on the disk: \(free.map { "\(ByteCount($0))" } ?? "unknown")
                Served   \("\(ByteCount(statistics.bytesServed))".leftPadded(9))  reads: \(statistics.reads)
                Fetched  \("\(ByteCount(statistics.bytesFetched))".leftPadded(9))  requests: \(statistics.originRequests)
                Saved    \("\(ByteCount(statistics.bytesSaved))".leftPadded(9))  \(ByteCount.fixed(share * 100, digits: 1)) % of what was served
                """)
        }
    }
}
