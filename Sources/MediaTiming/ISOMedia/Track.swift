/// An audio or video track, or another one, of a movie (ISO/IEC 14496-12 §8.3).
struct Track {
    /// An edit: which part of the media is shown next (§8.6.6).
    struct Edit {
        /// In units of the movie's timescale; 0 for the rest of the media.
        let duration: Int64
        /// In units of the track's timescale; `nil` for an empty edit.
        let mediaTime: Int64?
    }

    /// More edits than this are not looked at.
    static let mostEdits = 64

    private(set) var id: Int64 = 0
    /// Whether it is audio or video.
    private(set) var isMedia = false
    private(set) var timescale: Int64 = 1
    private(set) var edits: [Edit] = []
    private(set) var tables = SampleTables()

    init(_ trak: Box, in view: ByteView) throws(Stop) {
        var boxes = trak.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "tkhd":
                let isLong = try view.u8(at: box.content) == 1
                id = try view.narrowed(to: box.range).u32(at: box.content + (isLong ? 20 : 12))
            case "edts": try readEdits(box, in: view)
            case "mdia": try readMedia(box, in: view)
            default: break
            }
        }
    }

    private mutating func readEdits(_ edts: Box, in view: ByteView) throws(Stop) {
        var boxes = edts.children(in: view)
        while let box = try boxes.next() {
            guard box.type == "elst" else { continue }
            let view = view.narrowed(to: box.range)
            let isLong = try view.u8(at: box.content) == 1
            let size: Int64 = isLong ? 20 : 12
            let count = min(try view.u32(at: box.content + 4), Int64(Self.mostEdits))
            for index in 0..<count {
                let entry = box.content + 8 + index * size
                let duration = try isLong ? view.offset(at: entry) : view.u32(at: entry)
                let time =
                    isLong
                    ? Int64(bitPattern: try view.number(at: entry + 8, count: 8)) : try view.i32(at: entry + 4)
                guard time <= MediaBytes.largestPosition else { throw .malformed }
                edits.append(Edit(duration: duration, mediaTime: time < 0 ? nil : time))
            }
        }
    }

    private mutating func readMedia(_ mdia: Box, in view: ByteView) throws(Stop) {
        var boxes = mdia.children(in: view)
        while let box = try boxes.next() {
            switch box.type {
            case "mdhd": (timescale, _) = try Movie.times(box, in: view)
            case "hdlr":
                let handler = try view.narrowed(to: box.range).type(at: box.content + 8)
                isMedia = handler == "soun" || handler == "vide"
            case "minf":
                var inner = box.children(in: view)
                while let box = try inner.next() {
                    if box.type == "stbl" { tables = try SampleTables(box, in: view) }
                }
            default: break
            }
        }
    }

    /// The parts of the media, in seconds, that are shown in the first `goal` seconds.
    ///
    /// Without edits the first frame counts as the beginning, which waits `lead` units to be shown.
    func intervals(goal: Double, movieTimescale: Int64, lead: Int64) -> [Range<Double>] {
        if edits.isEmpty { return [0..<goal + Double(max(0, lead)) / Double(timescale)] }
        var shown: [Range<Double>] = []
        var elapsed = 0.0
        for (index, edit) in edits.enumerated() where elapsed < goal {
            // The last edit's duration is rounded, and may hide the last sample.
            let isLast = index == edits.count - 1 || edit.duration == 0
            let duration = Double(edit.duration) / Double(movieTimescale)
            let visible = isLast && edit.mediaTime != nil ? goal - elapsed : min(duration, goal - elapsed)
            if let time = edit.mediaTime {
                let start = Double(time) / Double(timescale)
                shown.append(start..<start + max(0, visible))
            }
            elapsed += visible
        }
        return shown
    }
}

/// What a decoder must know of a track before its first frame, as an initialization section says it.
package struct TrackDescription: Hashable, Sendable {
    /// What a track is.
    package enum Kind: Sendable {
        /// Pictures.
        case video
        /// Sound.
        case audio
        /// Subtitles.
        case subtitles
        /// Another medium.
        case other
    }

    /// What it is.
    package private(set) var kind = Kind.other
    /// The type of its samples, such as `avc1` (ISO/IEC 14496-12 §8.5.2).
    package private(set) var codec = ""
    /// In pixels; 0 for what is no picture.
    package private(set) var width: Int64 = 0, height: Int64 = 0
    /// In hertz; 0 for what is no sound.
    package private(set) var samplingRate: Int64 = 0
    /// Number of channels; 0 for what is no sound.
    package private(set) var channels: Int64 = 0
    /// The index of the byte whose lowest bit says that it is enabled (§8.3.2); `nil` without a header.
    package private(set) var flags: Int?

    /// The tracks of the movie that `bytes` begin with; `nil` if there is none that can be read.
    package static func tracks(in bytes: [UInt8]) -> [TrackDescription]? {
        var media = MediaBytes(length: Int64(bytes.count), window: Int64(bytes.count))
        media.insert(bytes, at: 0)
        return try? tracks(in: ByteView(media))
    }

    private static func tracks(in view: ByteView) throws(Stop) -> [TrackDescription]? {
        var boxes = Box.Children(view: view, position: 0)
        while let box = try boxes.next() {
            guard box.type == "moov" else { continue }
            var tracks: [TrackDescription] = []
            var children = box.children(in: view)
            while let child = try children.next() {
                guard child.type == "trak" else { continue }
                guard tracks.count < Movie.mostTracks else { throw .malformed }
                tracks.append(try TrackDescription(child, in: view))
            }
            return tracks
        }
        return nil
    }

    private init(_ trak: Box, in view: ByteView) throws(Stop) {
        flags = try trak.child("tkhd", in: view).map { Int($0.content) + 3 }
        guard let mdia = try trak.child("mdia", in: view) else { throw .malformed }
        guard let hdlr = try mdia.child("hdlr", in: view) else { throw .malformed }
        switch try view.narrowed(to: hdlr.range).type(at: hdlr.content + 8) {
        case "vide": kind = .video
        case "soun": kind = .audio
        case "sbtl", "subt", "text": kind = .subtitles
        default: kind = .other
        }
        guard let minf = try mdia.child("minf", in: view), let stbl = try minf.child("stbl", in: view),
            let stsd = try stbl.child("stsd", in: view)
        else { throw .malformed }
        var entries = stsd.children(in: view, skipping: 8)
        guard let entry = try entries.next() else { throw .malformed }
        try read(entry, in: view.narrowed(to: entry.range))
    }

    /// Reads a `VisualSampleEntry` (§12.1.3) or an `AudioSampleEntry` (§12.2.3).
    private mutating func read(_ entry: Box, in view: ByteView) throws(Stop) {
        codec = entry.type.text
        switch kind {
        case .video:
            width = try view.u16(at: entry.content + 24)
            height = try view.u16(at: entry.content + 26)
        case .audio:
            channels = try view.u16(at: entry.content + 16)
            samplingRate = try view.u16(at: entry.content + 24)
        case .subtitles, .other: break
        }
    }
}

extension Box {
    /// The first box of this type inside.
    fileprivate func child(_ type: FourCC, in view: ByteView) throws(Stop) -> Box? {
        var boxes = children(in: view)
        while let box = try boxes.next() {
            if box.type == type { return box }
        }
        return nil
    }
}

extension FourCC {
    /// Its characters, as far as they are printable ASCII.
    fileprivate var text: String {
        let bytes = [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) }
        return String(decoding: bytes.filter { (0x20..<0x7F).contains($0) }, as: UTF8.self)
    }
}
