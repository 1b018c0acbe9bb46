import Playlists
import Reprise

/// Rewrites the links of an M3U list or HLS playlist that is too large to edit as a whole, a block of lines at a time.
///
/// Only the length of a line is limited. The list's information about its files is not recorded.
struct LineEditor: PieceEditor {
    /// Number of bytes at which a block of lines is edited.
    private static let blockSize = 64 << 10

    private var body: GatheredBody
    private let context: HLSContext
    private let limits: PlaylistLimits
    private let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void
    /// Variables of the lines read so far.
    private var variables = Variables()
    /// Bytes of the incomplete last line.
    private var rest: [UInt8] = []
    /// Whether ``rest`` continues a line that is too long to edit.
    private var isInLongLine = false
    private var hasReported = false

    /// Creates an editor for `body`, whose bytes are passed to ``edit(_:)``.
    ///
    /// `imported` has the variables of the multivariant playlist that names it.
    init(
        _ body: GatheredBody, imported: Variables?, limits: PlaylistLimits,
        onUneditable: @escaping @Sendable (ResourceURL, PlaylistError) -> Void
    ) {
        (self.body, self.limits, self.onUneditable) = (body, limits, onUneditable)
        self.body.bytes = []
        context = HLSContext(url: URIReference(body.base.description), imported: imported)
    }

    mutating func edit(_ bytes: [UInt8]) -> [UInt8] {
        var result: [UInt8] = []
        rest += bytes
        // The block consists of the lines before `start` that have not been edited yet.
        var (block, start) = (0, 0)
        while let end = endOfLine(from: start) {
            if isInLongLine || isTooLong(start..<end) {
                result += edited(Array(rest[block..<start])) + rest[start..<end]
                reportLongLine()
                (block, isInLongLine) = (end, false)
            } else if end - block >= Self.blockSize {
                result += edited(Array(rest[block..<end]))
                block = end
            }
            start = end
        }
        result += edited(Array(rest[block..<start]))
        rest.removeFirst(start)
        if isTooLong(rest.indices) {
            reportLongLine()
            isInLongLine = true
            result += rest
            rest = []
        }
        return result
    }

    mutating func finish() -> [UInt8] {
        defer { rest = [] }
        return isInLongLine ? rest : edited(rest)
    }

    /// The end of the line that begins at `start`; `nil` if the line is incomplete.
    ///
    /// Lines end with LF, or with CR in a text without LF. A CR at the end of the buffer may be the first half of CR
    /// LF.
    private func endOfLine(from start: Int) -> Int? {
        if let feed = rest[start...].firstIndex(of: 0x0A) { return feed + 1 }
        return rest[start...].dropLast().firstIndex(of: 0x0D).map { $0 + 1 }
    }

    /// Whether a complete or partial line exceeds the limit, not counting its line break.
    private func isTooLong(_ line: Range<Int>) -> Bool {
        line.count > limits.lineLength
            && rest[line].dropLast(2).count + rest[line].suffix(2).count { $0 != 0x0A && $0 != 0x0D }
                > limits.lineLength
    }

    private mutating func edited(_ lines: [UInt8]) -> [UInt8] {
        guard !lines.isEmpty else { return [] }
        do throws(PlaylistError) {
            let list = try HLSPlaylist(lines: lines, context: context, variables: variables, limits: limits)
            variables = list.variables
            var block = body
            block.bytes = lines
            return try PlaylistRewriter.written(.hls(list), of: block)
        } catch {
            // The result of canceled work is not sent.
            if error.code != .canceled { report(error) }
            return lines
        }
    }

    private mutating func reportLongLine() {
        report(PlaylistError(.lineTooLong, "A line is longer than \(limits.lineLength) bytes."))
    }

    private mutating func report(_ error: PlaylistError) {
        if !hasReported { onUneditable(body.url, error) }
        hasReported = true
    }
}
