import ArgumentParser
import Reprise

/// How fast downloads may be, and when.
struct DownloadOptions: ParsableArguments {
    @Option(
        help: Setting.rate.help(
            "Most that is downloaded per second, in bits such as 20Mbit or in bytes such as 2MB; players are not slowed.",
            valueName: "rate"))
    var rate: String?
    @Option(
        name: .customLong("while"),
        help: Setting.hours.help(
            "Hours of each day in which something is downloaded, in local time, such as 02:00-06:00 or 22:30-06:00.",
            valueName: "hours"))
    var hours: String?

    /// Whether one of them was given.
    var isGiven: Bool { rate != nil || hours != nil }

    func validate() throws {
        try Setting.rate.check(option: rate)
        try Setting.hours.check(option: hours)
    }

    /// Applies `options` to `configuration`, and settings for options that are missing.
    static func apply(
        _ options: Self?, to configuration: inout MediaCache.Configuration, from settings: Settings
    ) throws {
        let rate = try settings.value(.rate, given: options?.rate)
        let hours = try settings.value(.hours, given: options?.hours)
        configuration.downloadRate = rate.flatMap(bytesPerSecond)
        configuration.downloadWindow = hours.flatMap(window)
    }

    /// The hours that `text` says; `nil` if it says none.
    static func window(_ text: String) -> DailyWindow? { try? DailyWindow(text) }

    /// The rate that `text` says; `nil` if it says none.
    static func bytesPerSecond(_ text: String) -> Int64? {
        let number = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        if let bits = BitRate(argument: number), bits.bitsPerSecond >= 8 { return bits.bitsPerSecond / 8 }
        return ByteCount(argument: number).flatMap { $0.bytes > 0 ? $0.bytes : nil }
    }
}
