/// The URLs that a template of an MPD stands for (ISO/IEC 23009-1 §5.3.9.4.4).
///
/// `$Number$`, `$Time$`, `$Bandwidth$` and `$SubNumber$` stand for digits, `$RepresentationID$` for a text without
/// slashes, so that a template never stands for files of other folders.
struct FileTemplate: Sendable {
    private enum Piece: Sendable {
        case literal([UInt8])
        case digits
        case text
    }

    private let pieces: [Piece]

    /// Most pieces of a template; real ones have less than ten.
    private static let mostPieces = 32

    /// `nil` for a text that is no template, or a malformed one.
    init?(_ template: String) {
        let parts = template.split(separator: "$", omittingEmptySubsequences: false)
        // Identifiers lie between two dollars each.
        guard parts.count > 1, parts.count % 2 == 1, parts.count <= Self.mostPieces else { return nil }
        var pieces: [Piece] = []
        for (index, part) in parts.enumerated() {
            if index.isMultiple(of: 2) {
                if !part.isEmpty { pieces.append(.literal(Array(part.utf8))) }
            } else {
                guard let piece = Self.piece(part) else { return nil }
                pieces.append(piece)
            }
        }
        self.pieces = pieces
    }

    private static func piece(_ identifier: Substring) -> Piece? {
        // `%05d` says how many digits there are at least.
        switch identifier.prefix(while: { $0 != "%" }) {
        case "": identifier.isEmpty ? .literal([UInt8(ascii: "$")]) : nil
        case "Number", "Time", "Bandwidth", "SubNumber": .digits
        case "RepresentationID": .text
        default: nil
        }
    }

    /// Whether `url` is one of them; takes a time that does not depend on how the pieces repeat.
    func matches(_ url: String) -> Bool {
        let bytes = Array(url.utf8)
        // Where the pieces so far may end.
        var ends: Set<Int> = [0]
        for piece in pieces {
            ends = Self.ends(of: piece, in: bytes, from: ends)
            if ends.isEmpty { return false }
        }
        return ends.contains(bytes.count)
    }

    private static func ends(of piece: Piece, in bytes: [UInt8], from starts: Set<Int>) -> Set<Int> {
        switch piece {
        case .literal(let text):
            return Set(starts.filter { bytes[$0...].starts(with: text) }.map { $0 + text.count })
        case .digits: return runs(in: bytes, from: starts) { (0x30...0x39).contains($0) }
        case .text:
            return runs(in: bytes, from: starts) { ![0x2F, 0x3F, 0x23, 0x25].contains($0) }
        }
    }

    /// The ends of one byte or more that fit.
    private static func runs(in bytes: [UInt8], from starts: Set<Int>, _ fits: (UInt8) -> Bool) -> Set<Int> {
        var ends: Set<Int> = []
        var isInside = false
        for index in (starts.min() ?? bytes.count)..<bytes.count {
            isInside = (isInside || starts.contains(index)) && fits(bytes[index])
            if isInside { ends.insert(index + 1) }
        }
        return ends
    }
}
