/// The text that the index has.
extension PreloadAmount {
    var recorded: String {
        switch self {
        case .bytes(let count): "bytes \(count)"
        case .seconds(let seconds): "seconds \(seconds)"
        case .segments(let count): "segments \(count)"
        case .range(let range): "range \(range.lowerBound) \(range.upperBound)"
        case .all: "all"
        }
    }

    /// `nil` for any other text.
    init?(recorded text: String) {
        let words = text.split(separator: " ").map(String.init)
        switch (words.first, words.count) {
        case ("all", 1): self = .all
        case ("bytes", 2): if let count = Int64(words[1]) { self = .bytes(count) } else { return nil }
        case ("seconds", 2):
            guard let seconds = Double(words[1]), seconds.isFinite else { return nil }
            self = .seconds(seconds)
        case ("segments", 2): if let count = Int(words[1]) { self = .segments(count) } else { return nil }
        case ("range", 3):
            guard let lower = Int64(words[1]), let upper = Int64(words[2]), lower <= upper else { return nil }
            self = .range(lower..<upper)
        default: return nil
        }
    }
}
