import Foundation
import Reprise

/// What the command writes to.
enum Terminal {
    /// Whether standard error is a terminal on which a line can be replaced, so that a progress bar makes sense.
    static var isInteractive: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

    /// Whether `descriptor` is a terminal, which a person reads.
    static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Columns of the terminal; 80 where there is none.
    static var width: Int {
        if let text = ProcessInfo.processInfo.environment["COLUMNS"], let columns = Int(text), columns > 20 {
            return columns
        }
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 || ioctl(STDERR_FILENO, UInt(TIOCGWINSZ), &size) == 0,
            size.ws_col > 20
        else { return 80 }
        return Int(size.ws_col)
    }

    /// A line on standard error.
    static func error(_ line: String) { write(line + "\n") }

    /// A line on standard output, at once also where that is a pipe.
    ///
    /// A result that cannot be written is an error of the command's.
    static func print(_ line: String) throws(OutputFile.Failure) { try output.write(Array((line + "\n").utf8)) }

    /// Replaces the current line of standard error.
    static func replaceLine(_ line: String) { write("\r\u{1B}[K" + line) }

    /// A value as one line of JSON on standard output.
    static func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        try output.write(Array(try encoder.encode(value) + Data("\n".utf8)))
    }

    private static let output = OutputFile(descriptor: STDOUT_FILENO, name: "standard output")

    /// Writes to standard error, where there is no place left to say that it fails.
    private static func write(_ text: String) {
        // `write(_:)` would trap here.
        do { try FileHandle.standardError.write(contentsOf: Data(text.utf8)) } catch { return }
    }
}
