/// The header of an EBML element (RFC 8794 §6).
struct Element {
    let id: UInt32
    let start: Int64
    /// Where the content begins.
    let content: Int64
    /// Where the element ends; `nil` if its size is not told.
    let end: Int64?

    /// Reads the header at `position`.
    init(at position: Int64, in view: ByteView) throws(Stop) {
        start = position
        let first = try view.u8(at: position)
        let idLength = UInt8(first).leadingZeroBitCount + 1
        guard idLength <= 4 else { throw .malformed }
        id = UInt32(truncatingIfNeeded: try view.number(at: position, count: idLength))
        let (size, sizeLength) = try Self.variableNumber(at: position + Int64(idLength), in: view)
        let content = position + Int64(idLength + sizeLength)
        self.content = content
        end = try size.map { (size) throws(Stop) -> Int64 in try content.moved(by: size) }
    }

    /// A number with its length in the first byte (RFC 8794 §4); `nil` if all its bits are ones.
    static func variableNumber(at position: Int64, in view: ByteView) throws(Stop) -> (Int64?, Int) {
        let first = try view.u8(at: position)
        let length = UInt8(first).leadingZeroBitCount + 1
        guard length <= 8 else { throw .malformed }
        let mask = UInt64(1) << (7 * UInt64(length)) - 1
        let value = try view.number(at: position, count: length) & mask
        guard value != mask else { return (nil, length) }
        guard value <= UInt64(MediaBytes.largestPosition) else { throw .malformed }
        return (Int64(value), length)
    }

    /// The content as an unsigned number of up to eight bytes (RFC 8794 §7.2).
    func unsigned(in view: ByteView) throws(Stop) -> UInt64 {
        guard let end, end - content <= 8 else { throw .malformed }
        return end > content ? try view.number(at: content, count: Int(end - content)) : 0
    }

    /// The content as a floating-point number (RFC 8794 §7.3).
    func float(in view: ByteView) throws(Stop) -> Double {
        switch end.map({ $0 - content }) {
        case 4: Double(Float(bitPattern: UInt32(truncatingIfNeeded: try view.number(at: content, count: 4))))
        case 8: Double(bitPattern: try view.number(at: content, count: 8))
        default: 0
        }
    }

    /// The elements inside; their content is needed as a whole.
    func children(of bytes: MediaBytes, limits: TimingLimits) throws(Stop) -> Children {
        guard let end else { throw .malformed }
        return Children(view: ByteView(bytes, part: start..<end, whole: limits.wholeTable), position: content)
    }

    /// The elements inside, in a view that contains this one.
    func children(in view: ByteView) throws(Stop) -> Children {
        guard let end else { throw .malformed }
        return Children(view: view.narrowed(to: start..<end), position: content)
    }

    /// Elements one after another.
    struct Children {
        let view: ByteView
        var position: Int64

        /// Reads the next element, or returns `nil` at the end.
        ///
        /// One of unknown size ends with its parent.
        mutating func next() throws(Stop) -> Element? {
            guard position < view.bounds.upperBound else { return nil }
            let element = try Element(at: position, in: view)
            position = element.end ?? view.bounds.upperBound
            return element
        }
    }
}

extension Element {
    // The elements that are read (RFC 9559 §5.1).
    static let header: UInt32 = 0x1A45_DFA3
    static let segment: UInt32 = 0x1853_8067
    static let seekHead: UInt32 = 0x114D_9B74
    static let seek: UInt32 = 0x4DBB
    static let seekID: UInt32 = 0x53AB
    static let seekPosition: UInt32 = 0x53AC
    static let information: UInt32 = 0x1549_A966
    static let timestampScale: UInt32 = 0x2A_D7B1
    static let duration: UInt32 = 0x4489
    static let tracks: UInt32 = 0x1654_AE6B
    static let trackEntry: UInt32 = 0xAE
    static let trackNumber: UInt32 = 0xD7
    static let trackType: UInt32 = 0x83
    static let codecDelay: UInt32 = 0x56AA
    static let cues: UInt32 = 0x1C53_BB6B
    static let cuePoint: UInt32 = 0xBB
    static let cueTime: UInt32 = 0xB3
    static let cueTrackPositions: UInt32 = 0xB7
    static let cueClusterPosition: UInt32 = 0xF1
    static let cluster: UInt32 = 0x1F43_B675
    static let timestamp: UInt32 = 0xE7
    static let simpleBlock: UInt32 = 0xA3
    static let blockGroup: UInt32 = 0xA0
    static let block: UInt32 = 0xA1
}
