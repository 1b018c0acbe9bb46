import Foundation
import Primitives

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// What the system says of this process, under the names that Prometheus's clients agreed on.
struct ProcessFigures: Sendable {
    /// Processor time, in seconds.
    let processorTime: Double
    /// Memory that is not paged out, in bytes; `nil` where the system does not tell it to the process.
    var residentBytes: Int64?
    /// Open file descriptors; `nil` if they cannot be listed.
    let openDescriptors: Int64?
    /// The limit of open files.
    let mostDescriptors: Int64?
    /// When the process began, in seconds since 1970; `nil` where that is not known.
    var startTime: Double?

    /// The figures of now.
    ///
    /// Reads what the system keeps in memory; the more descriptors are open, the longer it takes.
    init() {
        var usage = rusage()
        #if canImport(Darwin)
            let isKnown = getrusage(RUSAGE_SELF, &usage) == 0
        #else
            let isKnown = getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage) == 0
        #endif
        processorTime = isKnown ? Self.seconds(usage.ru_utime) + Self.seconds(usage.ru_stime) : 0
        openDescriptors = Self.countDescriptors()
        mostDescriptors = Descriptors.limit.map(Int64.init)
        #if os(Linux)
            residentBytes = Self.resident()
            startTime = Self.start
        #endif
    }

    /// Memory that is not paged out, in bytes; `nil` where the system does not tell it to the process.
    static func resident() -> Int64? {
        #if os(Linux)
            statistics().flatMap { field(24, of: $0) }.map { $0 * Int64(sysconf(Int32(_SC_PAGESIZE))) }
        #else
            nil
        #endif
    }

    private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

    private static func countDescriptors() -> Int64? {
        #if os(Linux)
            let folder = "/proc/self/fd"
        #else
            let folder = "/dev/fd"
        #endif
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder) else { return nil }
        // One of them is the folder's own.
        return Int64(max(0, names.count - 1))
    }

    #if os(Linux)
        /// The fields of `/proc/self/stat` behind the name of the program, which may have spaces (proc(5)).
        private static func statistics() -> [Substring]? {
            guard let text = try? String(contentsOfFile: "/proc/self/stat", encoding: .utf8),
                let end = text.lastIndex(of: ")")
            else { return nil }
            return text[text.index(after: end)...].split(separator: " ")
        }

        /// The field of that number, counted from 1 as in the manual page; the first that is left is the third.
        private static func field(_ number: Int, of fields: [Substring]) -> Int64? {
            fields.indices.contains(number - 3) ? Int64(fields[number - 3]) : nil
        }

        /// When the process began: so many ticks after the system did, which is some time ago.
        ///
        /// Found once, because the clocks are read one after the other. `/proc/stat`, which has the moment at which the
        /// system started, is hidden from services that are shut in.
        private static let start: Double? = {
            var (now, sinceBoot) = (timespec(), timespec())
            guard let ticks = statistics().flatMap({ field(22, of: $0) }), clock_gettime(CLOCK_REALTIME, &now) == 0,
                clock_gettime(CLOCK_BOOTTIME, &sinceBoot) == 0
            else { return nil }
            let boot = seconds(now) - seconds(sinceBoot)
            return ((boot + Double(ticks) / Double(sysconf(Int32(_SC_CLK_TCK)))) * 100).rounded() / 100
        }()

        private static func seconds(_ time: timespec) -> Double { Double(time.tv_sec) + Double(time.tv_nsec) / 1e9 }
    #endif
}
