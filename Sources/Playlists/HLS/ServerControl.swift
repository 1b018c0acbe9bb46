/// What the server of a media playlist can do: `EXT-X-SERVER-CONTROL` (rfc8216bis §4.4.3.8).
package struct ServerControl: Hashable, Sendable {
    /// Clients may ask for a list that does not exist yet: `CAN-BLOCK-RELOAD`.
    package internal(set) var canBlockReload = false
    /// Delta updates leave out segments that are older, in seconds: `CAN-SKIP-UNTIL`.
    package internal(set) var canSkipUntil: Double?
    /// Delta updates leave out date ranges: `CAN-SKIP-DATERANGES`.
    package internal(set) var canSkipDateRanges = false
    /// Distance to keep from the end, in seconds: `HOLD-BACK`.
    package internal(set) var holdBack: Double?
    /// Distance to keep in low latency, in seconds: `PART-HOLD-BACK`.
    package internal(set) var partHoldBack: Double?
    /// All attributes, in the order of the text.
    package internal(set) var attributes: [AttributeSpan] = []
    /// The whole line.
    package internal(set) var line: Range<Int>
}
