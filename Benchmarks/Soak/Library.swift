import Foundation
import RepriseTesting

/// The files of a run, the most popular first.
struct Library: Sendable {
    let files: [MediaFile]
    private let byPath: [String: MediaFile]

    /// Makes `count` files, which depend only on the seed, on this many origins.
    init(count: Int, origins: Int, seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let kinds = MediaFile.Kind.allCases.flatMap { kind in
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
    subscript(_ path: String) -> MediaFile? { byPath[path] }

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
