/// Where the range of the last segment or part ended, for the next one that states no offset (rfc8216bis §4.4.4.2).
struct RangeEnd {
    private var uri = 0..<0
    private var end: Int64?

    /// The bytes of the next one, whose URI stands at `place`; becomes the new end.
    mutating func extent(
        _ range: (count: Int64, offset: Int64?)?, of place: Range<Int>, in bytes: [UInt8]
    ) -> ByteExtent {
        let (previousURI, previousEnd) = (uri, end)
        uri = place
        end = nil
        guard let range else { return .whole }
        var offset = range.offset
        if offset == nil, previousURI.count == place.count, bytes[previousURI].elementsEqual(bytes[place]) {
            offset = previousEnd
        }
        guard let offset, let extent = ByteExtent.bytes(count: range.count, at: offset) else {
            return .unplaced(count: range.count)
        }
        end = offset + range.count
        return extent
    }
}
