import ArgumentParser
import Reprise

/// How fast downloads may be, and when.
struct DownloadOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Most that is downloaded per second, in bits such as 20Mbit or in bytes such as 2MB; players are not slowed.",
            valueName: "rate"))
    var rate: String?
    @Option(
        name: .customLong("while"),
        help: ArgumentHelp(
            "Hours of each day in which something is downloaded, in local time, such as 02:00-06:00 or 22:30-06:00.",
            valueName: "hours"))
    var hours: String?

    /// Whether one of them was given.
    var isGiven: Bool { rate != nil || hours != nil }

    func validate() throws {
        _ = try Self.bytesPerSecond(rate)
        _ = try window()
    }

    /// Puts what they say into `configuration`.
    func apply(to configuration: inout MediaCache.Configuration) throws {
        configuration.downloadRate = try Self.bytesPerSecond(rate)
        configuration.downloadWindow = try window()
    }

    private func window() throws -> DailyWindow? {
        guard let hours else { return nil }
        do throws(RepriseError) { return try DailyWindow(hours) } catch {
            throw ValidationError("--while: \(error.message)")
        }
    }

    private static func bytesPerSecond(_ text: String?) throws -> Int64? {
        guard let text else { return nil }
        let number = text.hasSuffix("/s") ? String(text.dropLast(2)) : text
        if let bits = BitRate(argument: number), bits.bitsPerSecond >= 8 { return bits.bitsPerSecond / 8 }
        guard number.last?.isLetter == true, !number.lowercased().hasSuffix("bit"),
            let bytes = ByteCount(argument: number)?.bytes, bytes > 0
        else {
            throw ValidationError(
                "--rate is \"\(text)\"; it takes a rate above zero with its unit, such as 20Mbit or 2MB, per second.")
        }
        return bytes
    }
}
