/// Splits a text into lines that end with LF, CR LF or CR, without a copy.
///
/// Players differ in which of the three they accept; a line that one of them sees must be seen here.
struct LineReader {
    /// A line: where it stands without its ends and the blanks around it, and with them.
    struct Line {
        /// The characters, without blanks at both ends.
        var content: Range<Int>
        /// Everything, terminator included.
        var whole: Range<Int>
    }

    private let bytes: [UInt8]
    private let budget: PlaylistBudget
    private var position = 0
    /// Number of the line read last, from 1.
    private(set) var number = 0

    init(_ bytes: [UInt8], budget: PlaylistBudget) {
        self.bytes = bytes
        self.budget = budget
        if bytes.hasPrefix("\u{FEFF}", at: 0) { position = 3 }
    }

    /// The next line; `nil` at the end.
    mutating func next() throws(PlaylistError) -> Line? {
        let start = position
        let count = bytes.count
        guard start < count else { return nil }
        number += 1
        let limits = budget.limits
        guard number <= limits.lines else {
            throw PlaylistError(.tooManyLines, "There are more than \(limits.lines) lines.", at: start, line: number)
        }
        let end = bytes.withUnsafeBufferPointer { buffer in
            var end = start
            // One comparison for nearly every byte: few are below CR.
            while end < count, buffer[end] > 0x0D || buffer[end] != 0x0A && buffer[end] != 0x0D { end += 1 }
            return end
        }
        guard end - start <= limits.lineLength else {
            throw PlaylistError(
                .lineTooLong, "The line is longer than \(limits.lineLength) bytes.", at: start, line: number)
        }
        try budget.spend(steps: 1 + (end - start) / PlaylistBudget.bytesPerScanningStep)
        position = min(end + 1, count)
        if end + 1 < count, bytes[end] == 0x0D, bytes[end + 1] == 0x0A { position = end + 2 }
        return Line(content: bytes.trimmed(start..<end), whole: start..<position)
    }
}
