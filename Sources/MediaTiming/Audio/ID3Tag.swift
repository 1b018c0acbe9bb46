/// The tags before MPEG audio (id3.org, ID3v2.4.0 §3.1): only their sizes matter.
enum ID3Tag {
    /// More tags in a row are no tags.
    private static let mostTags = 16

    /// Where the media begin behind the tags at the beginning of the file; cover art may make them megabytes long.
    static func end(in view: ByteView) throws(Stop) -> Int64 {
        var position: Int64 = 0
        for _ in 0..<mostTags {
            let header = try view.prefix(at: position, count: 10)
            guard header.count == 10, header.has("ID3"), header.byte(3) < 0xFF, header.byte(4) < 0xFF else { break }
            let digits = (6..<10).map { header.byte($0) }
            guard digits.allSatisfy({ $0 < 0x80 }) else { break }
            let size = digits.reduce(Int64(0)) { $0 << 7 | Int64($1) }
            let hasFooter = header.byte(5) & 0x10 != 0
            position = try position.moved(by: 10 + size + (hasFooter ? 10 : 0))
        }
        return position
    }
}
