import Foundation
import Primitives
import RepriseTesting

/// The files of a run, the most popular first.
struct Library: Sendable {
    let files: [MediaFile]
    private let byPath: [String: MediaFile]
    private let newcomers = Newcomers()
    private let origins: Int

    /// Makes `count` files, which depend only on the seed, on this many origins.
    init(count: Int, origins: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        self.origins = origins
        let kinds = MediaFile.Kind.allCases.filter { $0.share > 0 }.flatMap { kind in
            [MediaFile.Kind](repeating: kind, count: max(1, kind.share * count / 100))
        }
        files = kinds.shuffled(using: &random).enumerated().map { number, kind in
            MediaFile(
                number: number, kind: kind, origin: number % origins,
                length: Self.length(kind, using: &random), seed: random.next() >> 8)
        }
        byPath = Dictionary(
            uniqueKeysWithValues: files.flatMap { file in
                Set([file.path, file.finalPath]).map { ($0, file) }
            })
    }

    /// The file at a path of an origin.
    subscript(_ path: String) -> MediaFile? {
        if let file = byPath[path] { return file }
        let words = path.split(whereSeparator: { $0 == "/" || $0 == "." })
        guard words.count == 3, let kind = MediaFile.Kind(rawValue: String(words[0])), kind.share == 0,
            let number = Int(words[1]), number >= 0
        else { return nil }
        let file = newcomers.file(number, kind: kind, origins: origins)
        return file.path == path ? file : nil
    }

    /// The file that is new at that time, in seconds of uptime; another one every few seconds.
    func premiere(at time: Double) -> MediaFile {
        // A number that no segment has.
        newcomers.file(500_000_000 + Int(time / 3), kind: .premiere, origins: origins)
    }

    /// Bytes of all files as they are now.
    var bytes: Int64 { files.reduce(0) { $0 + $1.current(language: 0).length } }

    /// Picks one of the files that fit, early ones more often: the most popular tenth gets a third of the picks.
    func pick(using random: inout SeededGenerator, where fits: (MediaFile) -> Bool = { _ in true }) -> MediaFile {
        let fitting = files.filter(fits)
        let candidates = fitting.isEmpty ? files : fitting
        return candidates[Int(pow(Double.random(in: 0..<1, using: &random), 2) * Double(candidates.count))]
    }

    /// Changes one file; every second change keeps the length, which is harder for a cache.
    func changeOne(using random: inout SeededGenerator) {
        guard let file = files.randomElement(using: &random) else { return }
        let length = file.current(language: 0).length
        let changed =
            Bool.random(using: &random) ? length : max(4096, length + Int64.random(in: -4000...4000, using: &random))
        file.change(length: changed, at: Uptime.seconds)
    }

    /// From 4 KiB on, with as many files in each octave.
    private static func length(_ kind: MediaFile.Kind, using random: inout SeededGenerator) -> Int64 {
        let span = log(Double(kind.maximumLength) / 4096)
        return Int64(4096 * exp(span * Double.random(in: 0...1, using: &random)))
    }
}

/// Files that are made when they are requested: segments of streams, and premieres.
private final class Newcomers: Sendable {
    private struct Key: Hashable {
        let number: Int
        let kind: MediaFile.Kind
    }

    private static let capacity = 4096
    private let files = Mutex<[Key: MediaFile]>([:])

    func file(_ number: Int, kind: MediaFile.Kind, origins: Int) -> MediaFile {
        files.withLock { files in
            let key = Key(number: number, kind: kind)
            if let file = files[key] { return file }
            if files.count >= Self.capacity { files = [:] }
            var random = SeededGenerator(seed: UInt64(number))
            // All segments of a stream are at one origin.
            let origin = kind == .segment ? number / Scenery.segmentsInStream : number
            let file = MediaFile(
                number: number, kind: kind, origin: origin % origins,
                length: .random(in: 20_000...kind.maximumLength, using: &random), seed: random.next() >> 8)
            files[key] = file
            return file
        }
    }
}
