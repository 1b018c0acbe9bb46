/// The header of a box (ISO/IEC 14496-12 §4.2).
struct Box {
    let type: FourCC
    let start: Int64
    /// Where the content begins, behind the header.
    let content: Int64
    /// Where the box ends; clipped to what contains it.
    let end: Int64
    /// The size that the header tells, in bytes.
    let length: Int64

    var range: Range<Int64> { start..<end }

    /// Reads the header at `position`.
    init(at position: Int64, in view: ByteView) throws(Stop) {
        start = position
        let size = try view.u32(at: position)
        type = try view.type(at: position + 4)
        var header: Int64 = 8
        switch size {
        // To the end of the file.
        case 0: length = view.bounds.upperBound - position
        case 1:
            header = 16
            length = try view.offset(at: position + 8)
        default: length = size
        }
        guard length >= header else { throw .malformed }
        content = position + header
        end = min(try position.moved(by: length), max(content, view.bounds.upperBound))
    }

    /// The boxes inside, from `content` plus `skipping` on.
    func children(in view: ByteView, skipping: Int64 = 0) -> Children {
        Children(view: view.narrowed(to: start..<end), position: content + skipping)
    }

    /// Boxes one after another.
    struct Children {
        let view: ByteView
        var position: Int64

        /// Reads the next box, or returns `nil` at the end.
        ///
        /// Fewer bytes than a header are ignored, as players do.
        mutating func next() throws(Stop) -> Box? {
            guard position + 8 <= view.bounds.upperBound else { return nil }
            let box = try Box(at: position, in: view)
            position = box.end
            return box
        }
    }
}
