import Foundation
import HTTPSemantics
import HTTPTypes
import NIOCore
import RepriseProxy

/// What libFuzzer calls with each input: the parser that `REPRISE_FUZZ_TARGET` names gets it as text.
///
/// Results are not compared with a second implementation; the targets check that no input traps, and properties that
/// every result must have.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzOneInput(_ start: UnsafeRawPointer?, _ count: Int) -> CInt {
    let bytes = start.map { [UInt8](UnsafeRawBufferPointer(start: $0, count: count)) } ?? []
    target(bytes)
    return 0
}

private let target: @Sendable ([UInt8]) -> Void = {
    let name = ProcessInfo.processInfo.environment["REPRISE_FUZZ_TARGET"] ?? ""
    guard let target = targets[name] else {
        fatalError("REPRISE_FUZZ_TARGET must be one of \(targets.keys.sorted().joined(separator: ", "))")
    }
    return target
}()

private let targets: [String: @Sendable ([UInt8]) -> Void] = [
    "range": { bytes in
        guard let field = RangeField(text(bytes)) else { return }
        // A parsed value must print in a form that parses to the same value.
        precondition(RangeField(field.description) == field)
        for spec in field.specs {
            for length in [0, 1, 1000, Int64.largestPosition] {
                guard let range = spec.resolve(completeLength: length) else { continue }
                precondition(range.lowerBound >= 0 && range.lowerBound < range.upperBound && range.upperBound <= length)
            }
        }
    },
    "content-range": { bytes in
        guard let range = ContentRange(text(bytes)) else { return }
        precondition(ContentRange(range.description) == range)
        switch range {
        case .satisfied(let range, let length):
            precondition(range.lowerBound >= 0 && range.upperBound <= length ?? .largestPosition)
            precondition(length ?? 0 <= .largestPosition)
        case .unsatisfied(let length): precondition((0...Int64.largestPosition).contains(length))
        }
    },
    "response": { bytes in ResponseTargets.validate(text(bytes)) },
    "http-response": { bytes in ConnectionTargets.read(bytes) },
    "multipart": { bytes in ResponseTargets.multipart(text(bytes)) },
    "hls": { bytes in PlaylistTargets.read(bytes, behind: "#EXTM3U\n") },
    "mpd": { bytes in PlaylistTargets.read(bytes, behind: "<MPD ") },
    "media-timing": { bytes in TimingTargets.read(bytes) },
    "uri": { bytes in PlaylistTargets.resolve(bytes) },
    "cut": { bytes in ChunkTargets.cut(bytes) },
    "chunk-record": { bytes in ChunkTargets.read(bytes) },
    "etag": { bytes in
        let value = text(bytes)
        if let tag = EntityTag(value) { precondition(EntityTag(tag.description) == tag) }
        _ = EntityTagCondition(value)
        _ = IfRange(value)
    },
    "date": { bytes in
        guard let date = HTTPDate(text(bytes)) else { return }
        precondition(HTTPDate(date.description) == date)
    },
    "cache-control": { bytes in
        let value = text(bytes)
        let control = CacheControl(value)
        for seconds in [control.maxAge, control.sharedMaxAge, control.minFresh] {
            precondition(seconds ?? 0 >= 0 && seconds ?? 0 <= CacheControl.longestTime)
        }
        guard let target = HTTPField.Name("CDN-Cache-Control") else { return }
        let fields: HTTPFields = [.cacheControl: value, target: value, .vary: value, .age: value, .expires: value]
        let now = HTTPDate(secondsSince1970: 1_800_000_000)
        for isShared in [false, true] {
            let freshness = Freshness(fields, requestTime: now, responseTime: now, isShared: isShared)
            precondition(freshness.currentAge(now: now) >= 0 && freshness.lifetime >= 0)
            _ = freshness.reuse(for: control, now: now, obeysRequest: isShared, isConfirmed: !isShared)
        }
        _ = Vary(fields)?.selection(fields)
    },
    "request": { bytes in
        var parser = RequestParser()
        // In two pieces, to cover the places where a head may be cut.
        let middle = bytes.count / 2
        parser.append(ByteBuffer(bytes: bytes[..<middle]))
        _ = try? parser.next()
        parser.append(ByteBuffer(bytes: bytes[middle...]))
        for _ in 0..<8 {
            guard let head = try? parser.next() else { return }
            _ = head.fields
            _ = head.directives
            _ = MediaRequest(head).ranges
            _ = try? Route(target: head.target, token: nil)
            _ = try? Route(target: head.target, token: "token")
        }
    },
]

private func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
