import Playlists
import Reprise

/// Writes the links of a simple list or an HLS playlist that exceeds a limit, some lines at a time.
///
/// Only the length of a line is limited. What the list says about its files is not remembered.
struct LineEditor: PieceEditor {
    /// Number of bytes that are edited at once, unless a line is longer.
    private static let blockSize = 64 << 10

    private var body: GatheredBody
    private let context: HLSContext
    private let limits: PlaylistLimits
    private let onUneditable: @Sendable (ResourceURL, PlaylistError) -> Void
    /// Variables of the lines read so far.
    private var variables = Variables()
    /// Bytes behind the last end of a line.
    private var rest: [UInt8] = []
    /// Whether ``rest`` continues a line that is too long, and is not edited.
    private var isInLongLine = false
    private var hasReported = false

    /// Edits `body`, whose bytes come later; `imported` are the variables of the playlist that names it.
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
        var start = 0
        while let end = endOfLines(from: start) {
            let lines = rest[start..<end]
            result += isInLongLine ? Array(lines) : edited(Array(lines))
            isInLongLine = false
            start = end
        }
        rest.removeFirst(start)
        if rest.count > limits.lineLength {
            if !isInLongLine {
                report(PlaylistError(.lineTooLong, "A line is longer than \(limits.lineLength) bytes."))
            }
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

    /// The end of the lines from `start` on that make up a block, or of one longer line; `nil` if there is none yet.
    ///
    /// The last CR may be the first half of CR LF.
    private func endOfLines(from start: Int) -> Int? {
        guard start < rest.count else { return nil }
        func endsLine(_ index: Int) -> Bool {
            rest[index] == 0x0A || rest[index] == 0x0D && index + 1 < rest.count && rest[index + 1] != 0x0A
        }
        let limit = min(start + Self.blockSize, rest.count)
        // A line that was too long ends with its own end.
        if !isInLongLine, let end = (start..<limit).last(where: endsLine) { return end + 1 }
        return (start..<rest.count).first(where: endsLine).map { $0 + 1 }
    }

    private mutating func edited(_ lines: [UInt8]) -> [UInt8] {
        do throws(PlaylistError) {
            let list = try HLSPlaylist(lines: lines, context: context, variables: variables, limits: limits)
            variables = list.variables
            var block = body
            block.bytes = lines
            return try PlaylistRewriter.written(.hls(list), of: block)
        } catch {
            report(error)
            return lines
        }
    }

    private mutating func report(_ error: PlaylistError) {
        if !hasReported { onUneditable(body.url, error) }
        hasReported = true
    }
}
