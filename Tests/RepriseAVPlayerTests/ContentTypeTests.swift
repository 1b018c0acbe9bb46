import Testing
@testable import RepriseAVPlayer

@Suite struct ContentTypeTests {
    private func decide(
        override: String? = nil, _ mediaType: String?, _ pathExtension: String, _ bytes: [UInt8] = []
    ) -> String? {
        ContentType.decide(override: override, mediaType: mediaType, pathExtension: pathExtension, firstBytes: bytes)?
            .identifier
    }

    private func ascii(_ text: String) -> [UInt8] { Array(text.utf8) }

    @Test func theMediaTypeWinsThenTheExtensionThenTheBytes() {
        let flac = ascii("fLaC") + [UInt8](repeating: 0, count: 20)
        #expect(decide("audio/mpeg", "mp4", flac) == "public.mp3")
        #expect(decide("application/octet-stream", "mp4", flac) == "public.mpeg-4")
        #expect(decide("application/octet-stream", "php", flac) == "org.xiph.flac")
        #expect(decide("text/plain; charset=utf-8", "", flac) == "org.xiph.flac")
        #expect(decide(nil, "", []) == nil)
        #expect(decide(override: "public.aac-audio", "audio/mpeg", "mp4", flac) == "public.aac-audio")
        #expect(decide(override: "m4a", "audio/mpeg", "mp4", flac) == "com.apple.m4a-audio")
        #expect(decide(override: "dyn.ah62d4rv4ge80", "audio/mpeg", "") == nil)
    }

    @Test func parametersAndCaseDoNotMatter() {
        #expect(decide(" Audio/MPEG ; rate=1", "") == "public.mp3")
        #expect(decide(nil, "MP4") == "public.mpeg-4")
        #expect(decide("video/x-unknown", "") == nil)
        #expect(decide("", "") == nil)
    }

    @Test func noTypeIsDynamic() {
        for identifier in Array(ContentType.byMediaType.values) + Array(ContentType.byExtension.values) {
            #expect(!identifier.hasPrefix("dyn."))
            #expect(identifier.contains("."))
        }
    }

    @Test(
        "First bytes, after WHATWG MIME Sniffing §6.2",
        arguments: [
            ("0000001866747970 69736f6d", "public.mpeg-4"), ("0000001866747970 4d344120", "public.mpeg-4-audio"),
            ("0000001866747970 4d345620", "com.apple.m4v-video"),
            ("0000001866747970 71742020", "com.apple.quicktime-movie"),
            ("0000001866747970 33677036", "public.3gpp"), ("0000001866747970 33673261", "public.3gpp2"),
            ("0000001866747970 68656963", nil), ("000000086d6f6f76", "com.apple.quicktime-movie"),
            ("00000008 6d6f6f66", "public.mpeg-4"), ("49443304000000000000", "public.mp3"),
            ("49443304000000000000 664c6143", "org.xiph.flac"), ("664c6143", "org.xiph.flac"),
            ("52494646 00000000 57415645", "com.microsoft.waveform-audio"),
            ("52494646 00000000 41564920", "public.avi"),
            ("464f524d 00000000 41494646", "public.aiff-audio"), ("464f524d 00000000 41494643", "public.aifc-audio"),
            ("63616666", "com.apple.coreaudio-format"), ("2e736e64", "public.au-audio"),
            ("2321414d520a", "org.3gpp.adaptive-multi-rate-audio"), ("0b77 00000040", "public.ac3-audio"),
            ("0b77 00000080", "public.enhanced-ac3-audio"), ("000001ba", "public.mpeg"),
            ("4d546864", "public.midi-audio"),
            ("efbbbf 234558544d3355", "public.m3u-playlist"), ("574542565454", "org.w3.webvtt"), ("4f676753", nil),
            ("1a45dfa3", nil), ("56e0", "public.mp4a-loas"), ("", nil), ("ff", nil), ("fffb", nil),
        ] as [(String, String?)])
    func firstBytes(_ hex: String, _ expected: String?) {
        let digits = hex.filter(\.isHexDigit)
        let bytes = stride(from: 0, to: digits.count, by: 2).compactMap { offset in
            UInt8(digits.dropFirst(offset).prefix(2), radix: 16)
        }
        #expect(decide(nil, "", bytes) == expected)
    }

    /// MPEG 1 layer III at 128 kbit/s and 44.1 kHz: frames of 417 bytes (ISO/IEC 11172-3 §2.4.3.1: 144 · 128000 /
    /// 44100).
    @Test func mpegAudioNeedsASecondFrame() {
        let frame: [UInt8] = [0xFF, 0xFB, 0x90, 0x00] + [UInt8](repeating: 0, count: 413)
        #expect(decide(nil, "", frame + frame) == "public.mp3")
        #expect(decide(nil, "", frame + [UInt8](repeating: 0, count: 417)) == nil)
        #expect(decide(nil, "", frame) == nil)
    }

    /// ADTS: the frame length is the thirteen bits from bit 30 on (ISO/IEC 13818-7 §6.2).
    @Test func adtsIsNotTakenForMP3() {
        let length = 100
        let frame: [UInt8] =
            [0xFF, 0xF1, 0x50, UInt8(0x80 | length >> 11), UInt8(length >> 3 & 0xFF), UInt8(length << 5 & 0xE0), 0xFC]
            + [UInt8](repeating: 1, count: length - 7)
        #expect(decide(nil, "", frame + frame) == "public.aac-audio")
        #expect(decide(nil, "", frame + [0, 0, 0, 0, 0, 0, 0]) == nil)
    }

    @Test func transportStreamsHaveASyncByteEach188() {
        var bytes = [UInt8](repeating: 0, count: 600)
        for offset in [0, 188, 376] { bytes[offset] = 0x47 }
        #expect(decide(nil, "", bytes) == "public.mpeg-2-transport-stream")
        bytes[376] = 0
        #expect(decide(nil, "", bytes) == nil)
    }

    @Test func noBytesTrap() {
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<5000 {
            var bytes = (0..<Int.random(in: 0...40)).map { _ in UInt8.random(in: 0...255, using: &generator) }
            if let mark = ["ID3", "ftyp", "FF"].randomElement() { bytes = Array(mark.utf8) + bytes }
            _ = ContentType(firstBytes: bytes)
        }
    }

    @Test func onlyAllowedTypesAreAnswered() {
        let m4a = ContentType("com.apple.m4a-audio")
        #expect(m4a.answer(allowed: []) == m4a)
        #expect(m4a.answer(allowed: ["public.mp3", "com.apple.m4a-audio"]) == m4a)
        #expect(m4a.answer(allowed: ["public.mpeg-4"]) == ContentType("public.mpeg-4"))
        #expect(m4a.answer(allowed: ["public.audiovisual-content"])?.identifier == "public.audiovisual-content")
        #expect(m4a.answer(allowed: ["public.mp3"]) == nil)
    }
}
