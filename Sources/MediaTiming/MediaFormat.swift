/// Formats of files that the timer knows.
package enum MediaFormat: String, Hashable, Sendable, CaseIterable {
    /// MP4, M4A, QuickTime (ISO/IEC 14496-12).
    case isoMedia = "MP4"
    /// MP3, and layers I and II (ISO/IEC 11172-3).
    case mpegAudio = "MP3"
    /// AAC in ADTS frames (ISO/IEC 14496-3).
    case adts = "ADTS"
    /// AC-3 (ETSI TS 102 366); Enhanced AC-3 too.
    case ac3 = "AC-3"
    /// RIFF WAVE, RF64 and BW64.
    case wave = "WAV"
    /// AIFF and AIFF-C.
    case aiff = "AIFF"
    /// FLAC (RFC 9639).
    case flac = "FLAC"
    /// Ogg (RFC 3533) with Opus, Vorbis, FLAC, Speex or Theora.
    case ogg = "Ogg"
    /// Matroska and WebM (RFC 9559).
    case matroska = "Matroska"
    /// An MPEG-2 transport stream (ISO/IEC 13818-1).
    case transportStream = "MPEG-TS"
    /// None of these.
    case unknown = "unknown"
}

/// Tells the format of a file by its first bytes, or by those behind ID3 tags.
enum FormatSignature {
    /// So many bytes are looked at.
    private static let length = 4 << 10
    /// So many consecutive frames are no accident.
    private static let frames = 4
    /// Zeros and junk between tags and the first frame of MP3 are searched so far.
    private static let longestJunk = 64 << 10

    /// The reader for the file; throws `malformed` if no format fits.
    static func reader(of bytes: MediaBytes, goal: Double, limits: TimingLimits) throws(Stop) -> any FormatReader {
        let view = ByteView(bytes)
        let start = try ID3Tag.end(in: view)
        let head = try view.prefix(at: start, count: length)
        if start == 0, let reader = try container(head, goal: goal, limits: limits) { return reader }
        if head.has("fLaC") { return FLACReader(at: start, goal: goal) }
        for syntax in [AudioFrame.Syntax.adts, .ac3, .mpegAudio]
        where syntax.isFrame(in: head, at: 0, confirmedBy: frames) {
            return AudioFrameReader(syntax, at: start, goal: goal, limits: limits)
        }
        // Behind a tag there may be padding that it does not count.
        let junk = try start > 0 ? view.prefix(at: start, count: longestJunk) : head
        for syntax in [AudioFrame.Syntax.adts, .mpegAudio] {
            guard let offset = syntax.firstFrame(in: junk, confirmedBy: frames) else { continue }
            return AudioFrameReader(syntax, at: start + Int64(offset), goal: goal, limits: limits)
        }
        throw .malformed
    }

    private static func container(
        _ head: ArraySlice<UInt8>, goal: Double, limits: TimingLimits
    ) throws(Stop) -> (any FormatReader)? {
        if head.has("OggS") { return OggReader(goal: goal) }
        if head.count >= 4, head.number(4) == UInt64(Element.header) {
            return MatroskaReader(goal: goal, limits: limits)
        }
        if (head.has("RIFF") || head.has("RF64") || head.has("BW64")) && head.has("WAVE", at: 8) {
            return WaveReader(.wave, goal: goal)
        }
        if head.has("FORM") && (head.has("AIFF", at: 8) || head.has("AIFC", at: 8)) {
            return WaveReader(.aiff, goal: goal)
        }
        let types: [StaticString] = ["ftyp", "moov", "mdat", "free", "skip", "wide", "styp", "sidx", "moof", "pnot"]
        if types.contains(where: { head.has($0, at: 4) }) { return ISOMediaReader(goal: goal, limits: limits) }
        // Packets of 188 bytes; behind 4 bytes with their time (M2TS); before 16 bytes of checksums.
        for (offset, stride) in [(0, 188), (4, 192), (0, 204)] {
            let places = Swift.stride(from: offset, to: head.count, by: stride)
            guard head.count >= 5 * stride, places.allSatisfy({ head.byte($0) == 0x47 }) else { continue }
            return TransportStreamReader(at: Int64(offset), stride: Int64(stride), goal: goal)
        }
        return nil
    }
}

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
