/// A part of a file that is read with big-endian numbers; throws what is missing.
struct ByteView {
    let bytes: MediaBytes
    /// Reads stay inside; beyond it the view ends.
    let bounds: Range<Int64>
    /// What is told with a missing window: bytes that are needed anyway.
    let extent: Range<Int64>
    private let window: Int64
    /// A part that is asked for as a whole.
    private let whole: Range<Int64>?

    /// A view of the whole file.
    init(_ bytes: MediaBytes) {
        self.init(bytes, bounds: bytes.file, extent: 0..<0, window: bytes.window, whole: nil)
    }

    /// A view of a part that is needed as a whole; up to `whole` bytes of it are one window.
    init(_ bytes: MediaBytes, part: Range<Int64>, whole: Int64) {
        let part = part.clamped(to: bytes.file)
        let isSmall = part.upperBound - part.lowerBound <= whole
        self.init(bytes, bounds: part, extent: part, window: bytes.window, whole: isSmall ? part : nil)
    }

    private init(_ bytes: MediaBytes, bounds: Range<Int64>, extent: Range<Int64>, window: Int64, whole: Range<Int64>?) {
        (self.bytes, self.bounds, self.extent, self.window, self.whole) = (bytes, bounds, extent, window, whole)
    }

    /// The same bytes, with reads that stay inside `bounds`.
    func narrowed(to bounds: Range<Int64>) -> ByteView {
        ByteView(bytes, bounds: bounds.clamped(to: self.bounds), extent: extent, window: window, whole: whole)
    }

    /// The bytes at hand from `position` on, at least `count` of them.
    func slice(at position: Int64, atLeast count: Int) throws(Stop) -> ArraySlice<UInt8> {
        guard position >= bounds.lowerBound, position <= bounds.upperBound else { throw .end }
        let room = bounds.upperBound - position
        guard Int64(count) <= room else { throw .end }
        let slice = bytes.slice(from: position)
        if slice.count >= count { return slice.prefix(Int(min(room, Int64(slice.count)))) }
        var start = slice.isEmpty ? bytes.start(before: position) : position + Int64(slice.count)
        var end = min(bounds.upperBound, max(position + Int64(count), start + window))
        if let whole {
            start = whole.lowerBound + Int64(bytes.slice(from: whole.lowerBound).count)
            end = whole.upperBound
        }
        if let next = bytes.nextPiece(after: start) { end = min(end, next) }
        let extent = extent.clamped(to: 0..<bounds.upperBound)
        throw .missing(MediaNeed(window: start..<end, extent: extent.isEmpty ? start..<end : extent))
    }

    /// As many as `count` bytes at `position`, fewer only where the view ends.
    func prefix(at position: Int64, count: Int) throws(Stop) -> ArraySlice<UInt8> {
        guard position <= bounds.upperBound else { throw .end }
        let count = Int(min(Int64(count), bounds.upperBound - position))
        return try slice(at: position, atLeast: count).prefix(count)
    }

    /// An unsigned number of up to eight bytes.
    func number(at position: Int64, count: Int) throws(Stop) -> UInt64 {
        try slice(at: position, atLeast: count).number(count)
    }

    func u8(at position: Int64) throws(Stop) -> Int64 { Int64(try number(at: position, count: 1)) }
    func u16(at position: Int64) throws(Stop) -> Int64 { Int64(try number(at: position, count: 2)) }
    func u32(at position: Int64) throws(Stop) -> Int64 { Int64(try number(at: position, count: 4)) }

    /// A signed number of four bytes.
    func i32(at position: Int64) throws(Stop) -> Int64 {
        Int64(Int32(truncatingIfNeeded: try number(at: position, count: 4)))
    }

    /// A size or offset of eight bytes; larger ones than 2^53 are malformed.
    func offset(at position: Int64) throws(Stop) -> Int64 {
        let value = try number(at: position, count: 8)
        guard value <= UInt64(MediaBytes.largestPosition) else { throw .malformed }
        return Int64(value)
    }

    func type(at position: Int64) throws(Stop) -> FourCC {
        FourCC(value: UInt32(truncatingIfNeeded: try number(at: position, count: 4)))
    }
}

/// A type of four characters, as in MP4 and RIFF.
struct FourCC: Hashable, Sendable, ExpressibleByStringLiteral {
    let value: UInt32

    init(value: UInt32) { self.value = value }

    /// The first four characters of an ASCII literal.
    init(stringLiteral text: StaticString) {
        var value: UInt32 = 0
        for index in 0..<min(4, text.utf8CodeUnitCount) { value = value << 8 | UInt32(text.utf8Start[index]) }
        self.value = value
    }
}

extension Int64 {
    /// The nearest whole number in `0...2^53`; 0 for NaN.
    init(saturating value: Double) {
        guard value > 0 else {
            self = 0
            return
        }
        self = value < Double(MediaBytes.largestPosition) ? Int64(value) : MediaBytes.largestPosition
    }

    /// A position behind this one; malformed beyond 2^53.
    func moved(by size: Int64) throws(Stop) -> Int64 {
        let (sum, overflowed) = addingReportingOverflow(size)
        guard !overflowed, (0...MediaBytes.largestPosition).contains(sum) else { throw .malformed }
        return sum
    }
}

extension ArraySlice<UInt8> {
    /// The byte at this distance from the slice's start.
    func byte(_ index: Int) -> UInt8 { self[startIndex + index] }

    /// The first bytes as a big-endian number; there must be as many.
    func number(_ count: Int) -> UInt64 { prefix(count).reduce(0) { $0 << 8 | UInt64($1) } }

    /// A big-endian number of `count` bytes at `index`; there must be as many.
    func number(at index: Int, count: Int) -> UInt64 { self[(startIndex + index)...].number(count) }

    /// A little-endian number of `count` bytes at `index`; there must be as many.
    func littleEndian(at index: Int, count: Int) -> UInt64 {
        self[(startIndex + index)...].prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Whether `text` stands at `index`.
    func has(_ text: StaticString, at index: Int = 0) -> Bool {
        let length = text.utf8CodeUnitCount
        guard index >= 0, count >= index + length else { return false }
        for offset in 0..<length where byte(index + offset) != text.utf8Start[offset] { return false }
        return true
    }
}
