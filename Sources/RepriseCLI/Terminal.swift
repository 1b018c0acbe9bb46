import Foundation

/// What the command writes to.
enum Terminal {
    /// Whether standard error is a terminal, so that a progress bar makes sense.
    static var isInteractive: Bool { isatty(STDERR_FILENO) == 1 }

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
    static func error(_ line: String) { FileHandle.standardError.write(Data((line + "\n").utf8)) }

    /// A line on standard output, at once also where that is a pipe.
    static func print(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

    /// Replaces the current line of standard error.
    static func replaceLine(_ line: String) {
        FileHandle.standardError.write(Data(("\r\u{1B}[K" + line).utf8))
    }

    /// A value as one line of JSON on standard output.
    static func printJSON(_ value: some Encodable) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        FileHandle.standardOutput.write(try encoder.encode(value) + Data("\n".utf8))
    }
}
