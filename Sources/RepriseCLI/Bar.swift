import ByteRanges

/// Pictures made of blocks.
enum Bar {
    private static let eighths = [" ", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"]

    /// A bar of `width` cells of which `fraction` is filled.
    static func progress(_ fraction: Double, width: Int) -> String {
        let filled = Int((min(max(fraction, 0), 1) * Double(width * 8)).rounded(.down))
        let full = filled / 8
        guard full < width else { return String(repeating: "█", count: width) }
        return String(repeating: "█", count: full) + eighths[filled % 8]
            + String(repeating: " ", count: width - full - 1)
    }

    /// Which bytes of `length` are stored: a cell is full, three quarters, half, a quarter or not stored at all.
    ///
    /// A cell with any stored byte is never shown empty, one with any missing byte never full.
    static func coverage(_ stored: ByteRangeSet, length: Int64, width: Int) -> String {
        guard length > 0, width > 0 else { return "" }
        return (0..<Int64(width)).map { cell in
            let lower = position(cell, of: length, width: width)
            let upper = max(position(cell + 1, of: length, width: width), min(lower + 1, length))
            let bytes = stored.spans(in: lower..<upper).reduce(0) { $0 + $1.upperBound - $1.lowerBound }
            switch Double(bytes) / Double(max(upper - lower, 1)) {
            case 1: return "█"
            case 0: return "·"
            case ..<0.34: return "░"
            case ..<0.67: return "▒"
            default: return "▓"
            }
        }.joined()
    }

    private static func position(_ cell: Int64, of length: Int64, width: Int) -> Int64 {
        let (high, low) = length.multipliedFullWidth(by: cell)
        return Int64(width).dividingFullWidth((high, low)).quotient
    }
}
