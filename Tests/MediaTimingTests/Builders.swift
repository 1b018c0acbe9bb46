/// `value` in `count` bytes, the highest first.
func big(_ value: Int, _ count: Int = 4) -> [UInt8] {
    (0..<count).reversed().map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
}

/// `value` in `count` bytes, the lowest first.
func little(_ value: Int, _ count: Int = 4) -> [UInt8] { big(value, count).reversed() }

/// A box of ISO/IEC 14496-12 §4.2; `claiming` another size than it has.
func box(_ type: String, claiming size: Int? = nil, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    return big(size ?? content.count + 8) + Array(type.utf8) + content
}

/// Bytes without meaning.
func filler(_ count: Int) -> [UInt8] { [UInt8](repeating: 0xA5, count: count) }

/// An element of RFC 8794 with a size of eight bytes, or of unknown size.
func element(_ id: Int, isUnknown: Bool = false, _ content: [UInt8]...) -> [UInt8] {
    let content = content.flatMap { $0 }
    let length = id > 0xFF_FFFF ? 4 : id > 0xFFFF ? 3 : id > 0xFF ? 2 : 1
    return big(id, length) + (isUnknown ? [0x01] + [UInt8](repeating: 0xFF, count: 7) : big(1 << 56 | content.count, 8))
        + content
}

/// A page of RFC 3533 §6 with one packet, which ends on it unless `granule` is −1.
func page(_ serial: Int, granule: Int, isFirst: Bool = false, _ packet: [UInt8]) -> [UInt8] {
    let segments = [UInt8](repeating: 255, count: packet.count / 255) + [UInt8(packet.count % 255)]
    return Array("OggS".utf8) + [0, isFirst ? 2 : 0] + little(granule, 8) + little(serial) + little(0, 8)
        + [UInt8(segments.count)] + segments + packet
}

/// The identification header of Opus (RFC 7845 §5.1).
func opusHead(preSkip: Int = 0) -> [UInt8] {
    Array("OpusHead".utf8) + [1, 2] + little(preSkip, 2) + little(48_000) + [0, 0, 0]
}

/// A frame of MPEG-1 layer III at 44.1 kHz: `rate` is the index of its bit rate.
func mp3Frame(rate: Int = 9, _ content: [UInt8] = []) -> [UInt8] {
    let kilobits = [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320][rate]
    let length = 144 * kilobits * 1000 / 44_100
    return [0xFF, 0xFB, UInt8(rate << 4), 0x44] + content + filler(length - 4 - content.count)
}

/// An ID3v2.4 tag with `count` bytes behind its header.
func id3(_ count: Int, footer: Bool = false) -> [UInt8] {
    let size = [21, 14, 7, 0].map { UInt8(count >> $0 & 0x7F) }
    return Array("ID3".utf8) + [4, 0, footer ? 0x10 : 0] + size + [UInt8](repeating: 0, count: count)
        + (footer ? filler(10) : [])
}

/// A packet of a transport stream; with a time in units of 90 kHz it begins a PES packet of video.
func packet(_ identifier: Int, time: Int? = nil, stream: UInt8 = 0xE0) -> [UInt8] {
    let head: [UInt8] = [0x47, UInt8((time == nil ? 0 : 0x40) | identifier >> 8), UInt8(identifier & 0xFF), 0x10]
    guard let time else { return head + filler(184) }
    // 33 bits in three parts, each with a bit behind it that is one.
    let wrapped = time & 0x1_FFFF_FFFF
    let (high, middle, low) = (wrapped >> 30, wrapped >> 15 & 0x7FFF, wrapped & 0x7FFF)
    let stamp = [UInt8(0x21 | high << 1)] + big(middle << 1 | 1, 2) + big(low << 1 | 1, 2)
    let pes: [UInt8] = [0, 0, 1, stream, 0, 0, 0x80, 0x80, 5] + stamp
    return head + pes + filler(184 - pes.count)
}
