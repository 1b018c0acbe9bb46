import Foundation

/// What the command writes to.
enum Terminal {
    /// Whether standard error is a terminal on which a line can be replaced, so that a progress bar makes sense.
    static var isInteractive: Bool {
        isatty(STDERR_FILENO) == 1 && ProcessInfo.processInfo.environment["TERM"] != "dumb"
    }

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
    static func error(_ line: String) { write(Data((line + "\n").utf8), to: .standardError) }

    /// A line on standard output, at once also where that is a pipe.
    static func print(_ line: String) { write(Data((line + "\n").utf8), to: .standardOutput) }

    /// Replaces the current line of standard error.
    static func replaceLine(_ line: String) {
        write(Data(("\r\u{1B}[K" + line).utf8), to: .standardError)
    }

    /// A value as one line of JSON on standard output.
    static func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        write(try encoder.encode(value) + Data("\n".utf8), to: .standardOutput)
    }

    /// Writes; whoever closed the other end (`reprise list | head -1`) wants no more, and that is no error.
    private static func write(_ data: Data, to file: FileHandle) {
        // `write(_:)` would trap here.
        do { try file.write(contentsOf: data) } catch { return }
    }
}
