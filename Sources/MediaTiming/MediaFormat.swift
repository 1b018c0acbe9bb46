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
