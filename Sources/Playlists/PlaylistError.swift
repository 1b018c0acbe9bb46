/// Why a playlist cannot be read or edited, and where.
///
/// Errors carry no text of the playlist: its links hold tokens.
package struct PlaylistError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kinds of failure.
    package enum Code: String, Sendable {
        /// The text begins like no playlist.
        case notAPlaylist
        /// The text is in UTF-16 or another encoding than UTF-8.
        case encoding
        /// The text is longer than ``PlaylistLimits/size``.
        case tooLarge
        /// There are more lines than ``PlaylistLimits/lines``.
        case tooManyLines
        /// A line or an XML tag is longer than ``PlaylistLimits/lineLength``.
        case lineTooLong
        /// There are more links than ``PlaylistLimits/links``.
        case tooManyLinks
        /// XML elements are nested deeper than ``PlaylistLimits/depth``.
        case tooDeep
        /// There are more XML elements than ``PlaylistLimits/elements``.
        case tooManyElements
        /// More keys of different formats hold at once than ``PlaylistLimits/keyFormats``.
        case tooManyKeys
        /// The XML has a document type with declarations, which no MPD needs.
        case documentType
        /// The XML is not well-formed.
        case malformedXML
        /// Variables expand to more than the playlist may become.
        case expansionTooLong
        /// The edited text would be longer than ``PlaylistLimits/output(forInput:)``.
        case outputTooLong
        /// Replaced places overlap or lie outside the text.
        case misplacedEdit
        /// A link or attribute names a variable that no earlier line defines.
        case undefinedVariable
        /// A second line defines the same variable; the first counts.
        case duplicateVariable
        /// A definition has no valid name, value or source.
        case invalidDefinition
        /// An attribute list breaks off inside a quoted string or lacks `=`.
        case malformedAttributes
        /// A link contains control characters.
        case controlCharacter
        /// A byte range without an offset follows no range of the same resource.
        case unplacedRange
        /// A number is malformed or above 2^53.
        case invalidNumber
        /// The list of segments has no end, or more segments than were asked for.
        case endless
        /// What describes the segments is incomplete.
        case incompleteTemplate
        /// The playlist stands for more than its ``PlaylistBudget`` allows.
        case budgetExceeded
        /// The task was canceled.
        case canceled

        /// Whether the text may be valid, but is more than is worked through.
        package var isLimit: Bool {
            switch self {
            case .tooLarge, .tooManyLines, .lineTooLong, .tooManyLinks, .tooDeep, .tooManyElements, .tooManyKeys,
                .expansionTooLong, .outputTooLong, .budgetExceeded:
                true
            default: false
            }
        }
    }

    /// What failed.
    package let code: Code
    /// One sentence for people.
    package let message: String
    /// Offset into the text, in bytes; `nil` if the failure has no single place.
    package let offset: Int?
    /// Number of the line, from 1; `nil` for XML and failures without a place.
    package let line: Int?

    /// Creates an error.
    package init(_ code: Code, _ message: String, at offset: Int? = nil, line: Int? = nil) {
        (self.code, self.message, self.offset, self.line) = (code, message, offset, line)
    }

    /// The message with its place, on one line.
    package var description: String {
        if let line { return "Line \(line): \(message)" }
        if let offset { return "Byte \(offset): \(message)" }
        return message
    }
}
