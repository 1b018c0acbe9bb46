/// The name that a mistyped one was meant to be.
enum NearestName {
    /// The one of `names` that is nearest to `text`; `nil` if none is near.
    static func to(_ text: String, among names: [String]) -> String? {
        let text = text.lowercased()
        let nearest = names.map { (name: $0, distance: distance(text, $0)) }.min { $0.distance < $1.distance }
        guard let nearest, nearest.distance <= max(2, nearest.name.count / 3) else { return nil }
        return nearest.name
    }

    /// The number of letters to add, leave out, replace or swap with their neighbor (optimal string alignment).
    static func distance(_ first: String, _ second: String) -> Int {
        let (first, second) = (Array(first.unicodeScalars), Array(second.unicodeScalars))
        var (before, last) = ([Int](), Array(0...second.count))
        for row in 0..<first.count {
            var next = [row + 1]
            for column in 0..<second.count {
                let isSame = first[row] == second[column]
                var cost = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, next[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    cost = min(cost, before[column - 1] + 1)
                }
                next.append(cost)
            }
            (before, last) = (last, next)
        }
        return last.last ?? 0
    }
}
