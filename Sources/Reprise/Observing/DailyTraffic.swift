import Foundation

/// Bytes that readers got, and bytes that origins sent, on one day.
package struct DailyTraffic: Encodable, Sendable, Equatable {
    /// The day in this machine's time zone, such as `2026-11-29`.
    package let day: String
    package var servedBytes: Int64 = 0
    package var fetchedBytes: Int64 = 0
    /// Bytes that did not have to be fetched, as in ``CacheStatistics/bytesSaved``.
    package var savedBytes: Int64 { servedBytes - fetchedBytes }

    /// Number of days that are remembered.
    package static let remembered = 31

    private enum Member: String, CodingKey { case day, servedBytes, fetchedBytes, savedBytes }

    package func encode(to encoder: any Encoder) throws {
        var members = encoder.container(keyedBy: Member.self)
        try members.encode(day, forKey: .day)
        try members.encode(servedBytes, forKey: .servedBytes)
        try members.encode(fetchedBytes, forKey: .fetchedBytes)
        try members.encode(savedBytes, forKey: .savedBytes)
    }

    /// The day of `time`, in seconds since 1970.
    static func day(of time: Double, in zone: TimeZone = .current) -> String {
        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = zone
        let parts = calendar.dateComponents([.year, .month, .day], from: Date(timeIntervalSince1970: time))
        return [(parts.year, 4), (parts.month, 2), (parts.day, 2)].map { number, width in
            let text = String(number ?? 0)
            return String(repeating: "0", count: max(0, width - text.count)) + text
        }.joined(separator: "-")
    }
}

extension MediaCache {
    /// The traffic of each of the last days on which there was any, the earliest first.
    ///
    /// Waits for the disk. Throws ``RepriseError`` with code `storageUnavailable`.
    package func dailyTraffic() async throws -> [DailyTraffic] {
        guard let store = engine.store else { return [] }
        await store.recorder.flush()
        return try await store.index.look { try $0.statistics.dailyTraffic() }
    }
}
