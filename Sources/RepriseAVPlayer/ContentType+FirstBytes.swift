extension ContentType {
    /// Number of bytes that determine a file's type: the longest MPEG audio frame and the header of the next.
    static let bytesNeeded = 4096

    /// Determines the type by the first bytes, after WHATWG MIME Sniffing §6.2 and the formats' own specifications;
    /// `nil` if they are inconclusive.
    ///
    /// Never traps, whatever the bytes. Ogg and Matroska have no identifier that is safe to name, so they give `nil`.
    init?(firstBytes bytes: [UInt8]) {
        guard let found = Signature(bytes).identifier else { return nil }
        self.init(found)
    }

    /// Whether the bytes begin a web page or a JSON text, that is, an error page with status 200.
    static func looksLikeText(_ bytes: [UInt8]) -> Bool {
        guard let first = bytes.first(where: { ![0x09, 0x0A, 0x0D, 0x20, 0xEF, 0xBB, 0xBF].contains($0) }) else {
            return false
        }
        return first == UInt8(ascii: "<") || first == UInt8(ascii: "{")
    }
}

/// Recognizes the signatures of file formats.
private struct Signature {
    private let bytes: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { self.bytes = bytes[...] }

    private init(_ bytes: ArraySlice<UInt8>) { self.bytes = bytes }

    private func byte(_ offset: Int) -> UInt8? {
        let index = bytes.startIndex + offset
        return offset >= 0 && index < bytes.endIndex ? bytes[index] : nil
    }

    private func has(_ text: String, at offset: Int = 0) -> Bool { has(Array(text.utf8), at: offset) }

    private func has(_ mark: [UInt8], at offset: Int = 0) -> Bool {
        mark.indices.allSatisfy { byte(offset + $0) == mark[$0] }
    }

    private func text(_ offset: Int) -> String? {
        guard byte(offset + 3) != nil else { return nil }
        return String(decoding: (0..<4).compactMap { byte(offset + $0) }, as: UTF8.self)
    }

    var identifier: String? {
        tagged ?? fixed ?? isoMedia ?? transportStream ?? adts ?? mpegAudio ?? dolby ?? playlist
    }

    /// After an ID3 tag the format's own signature follows, if the bytes reach that far; otherwise it is an mp3.
    private var tagged: String? {
        guard has("ID3"), let size = id3Size else { return nil }
        guard byte(size + 3) != nil else { return "public.mp3" }
        let rest = Signature(bytes.dropFirst(size))
        return rest.fixed ?? rest.adts ?? "public.mp3"
    }

    /// ID3v2 §3.1: four bytes of seven bits each, without the header's ten bytes.
    private var id3Size: Int? {
        var size = 0
        for offset in 6..<10 {
            guard let value = byte(offset), value < 0x80 else { return nil }
            size = size << 7 | Int(value)
        }
        return size + 10
    }

    private var fixed: String? {
        if has("fLaC") { return "org.xiph.flac" }
        if has("RIFF") || has("RF64") {
            return has("WAVE", at: 8) ? "com.microsoft.waveform-audio" : has("AVI ", at: 8) ? "public.avi" : nil
        }
        if has("FORM") {
            return has("AIFF", at: 8) ? "public.aiff-audio" : has("AIFC", at: 8) ? "public.aifc-audio" : nil
        }
        if has("caff") { return "com.apple.coreaudio-format" }
        if has(".snd") { return "public.au-audio" }
        if has("#!AMR") { return "org.3gpp.adaptive-multi-rate-audio" }
        if has("MThd") { return "public.midi-audio" }
        if has([0, 0, 1, 0xBA]) || has([0, 0, 1, 0xB3]) { return "public.mpeg" }
        return nil
    }

    /// ISO/IEC 14496-12 §4.2: size, then type; a file type box names its brand.
    private var isoMedia: String? {
        guard let type = text(4) else { return nil }
        switch type {
        case "ftyp": return text(8).map(Self.brand) ?? nil
        case "moov", "mdat", "wide", "free", "skip", "pnot": return "com.apple.quicktime-movie"
        case "styp", "moof", "sidx": return "public.mpeg-4"
        default: return nil
        }
    }

    private static func brand(_ brand: String) -> String? {
        switch brand {
        case "M4A ", "M4B ", "M4P ": "public.mpeg-4-audio"
        case "M4V ", "M4VH", "M4VP": "com.apple.m4v-video"
        case "qt  ": "com.apple.quicktime-movie"
        case "heic", "heix", "mif1", "msf1", "avif", "avis": nil
        case let brand where brand.hasPrefix("3g2"): "public.3gpp2"
        case let brand where brand.hasPrefix("3g"): "public.3gpp"
        default: "public.mpeg-4"
        }
    }

    private var transportStream: String? {
        if byte(0) == 0x47, byte(188) == 0x47, byte(376) == 0x47 { return "public.mpeg-2-transport-stream" }
        if byte(4) == 0x47, byte(196) == 0x47, byte(388) == 0x47 { return "public.avchd-mpeg-2-transport-stream" }
        return nil
    }

    /// ISO/IEC 13818-7 §6.2: sync word, layer 00, and another header one frame later.
    private var adts: String? {
        guard let length = adtsFrame(0) else { return nil }
        return adtsFrame(length) == nil ? nil : "public.aac-audio"
    }

    private func adtsFrame(_ offset: Int) -> Int? {
        guard byte(offset) == 0xFF, let second = byte(offset + 1), second & 0xF6 == 0xF0, let third = byte(offset + 2),
            (third >> 2) & 15 < 13, let a = byte(offset + 3), let b = byte(offset + 4), let c = byte(offset + 5)
        else { return nil }
        let length = Int(a & 3) << 11 | Int(b) << 3 | Int(c >> 5)
        return length >= 7 ? length : nil
    }

    /// ISO/IEC 11172-3 §2.4.1.3: sync, and another header one frame later; LATM has a sync of its own.
    private var mpegAudio: String? {
        if byte(0) == 0x56, let second = byte(1), second & 0xE0 == 0xE0 { return "public.mp4a-loas" }
        guard let (length, layer) = mpegFrame(0), let next = mpegFrame(length), next.layer == layer else { return nil }
        return layer == 3 ? "public.mp3" : layer == 2 ? "public.mp2" : nil
    }

    private func mpegFrame(_ offset: Int) -> (length: Int, layer: Int)? {
        guard byte(offset) == 0xFF, let second = byte(offset + 1), second & 0xE0 == 0xE0, let third = byte(offset + 2)
        else { return nil }
        let version = Int(second >> 3) & 3
        let layer = 4 - Int(second >> 1) & 3
        let rateIndex = Int(third >> 2) & 3
        guard version != 1, layer == 2 || layer == 3, rateIndex != 3 else { return nil }
        let isFirst = version == 3
        let bitrates = isFirst && layer == 2 ? Self.layer2 : isFirst ? Self.layer3 : Self.lowRates
        let bitrate = bitrates[Int(third >> 4)] * 1000
        let rate = [44_100, 48_000, 32_000][rateIndex] >> (isFirst ? 0 : version == 2 ? 1 : 2)
        guard bitrate > 0 else { return nil }
        let samples = layer == 3 && !isFirst ? 72 : 144
        return (samples * bitrate / rate + Int(third >> 1) & 1, layer)
    }

    private static let layer2 = [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 0]
    private static let layer3 = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0]
    private static let lowRates = [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0]

    private var dolby: String? {
        guard has([0x0B, 0x77]), let five = byte(5) else { return nil }
        return five >> 3 <= 10 ? "public.ac3-audio" : five >> 3 <= 16 ? "public.enhanced-ac3-audio" : nil
    }

    private var playlist: String? {
        let start = has([0xEF, 0xBB, 0xBF]) ? 3 : 0
        if has("#EXTM3U", at: start) { return "public.m3u-playlist" }
        return has("WEBVTT", at: start) ? "org.w3.webvtt" : nil
    }
}
