import Reprise

/// The traffic of the last days, as `history.json` has it.
struct HistoryReport: Encodable, Sendable {
    struct Day: Encodable, Sendable {
        /// Such as `2026-11-29`, in the server's time zone.
        let day: String
        let savedBytes, servedBytes, fetchedBytes: Int64
    }

    /// The earliest first; days without traffic are left out.
    let days: [Day]

    init(_ days: [DailyTraffic]) {
        self.days = days.map { day in
            Day(
                day: day.day, savedBytes: day.servedBytes - day.fetchedBytes, servedBytes: day.servedBytes,
                fetchedBytes: day.fetchedBytes)
        }
    }
}
