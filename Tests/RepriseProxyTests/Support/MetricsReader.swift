/// Reads metrics as the specifications describe the two text formats; whatever they forbid is a failure.
///
/// Prometheus: "Exposition formats", text format 0.0.4. OpenMetrics: specification 1.0.
struct MetricsReader {
    struct Failure: Error, CustomStringConvertible { let description: String }

    struct Family: Equatable {
        let name: String
        var type: String
        var help: String
        var unit: String?
        var samples: [Sample] = []
    }

    struct Sample: Equatable {
        let name: String
        let labels: [String: String]
        let value: Double
        let text: String
    }

    let isOpenMetrics: Bool
    private(set) var families: [Family] = []

    init(_ text: String, isOpenMetrics: Bool) throws {
        self.isOpenMetrics = isOpenMetrics
        guard text.hasSuffix("\n") else { throw Failure(description: "the last line has no end") }
        guard !text.unicodeScalars.contains("\r") else { throw Failure(description: "a carriage return") }
        var lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
        lines.removeLast()
        if isOpenMetrics {
            guard lines.popLast() == "# EOF" else { throw Failure(description: "no # EOF at the end") }
        }
        for line in lines { try read(line) }
        for family in families { try check(family) }
    }

    /// The samples of that name.
    func samples(_ name: String) -> [Sample] { families.flatMap(\.samples).filter { $0.name == name } }

    /// The sum of all samples of that name whose labels include `labels`.
    func sum(_ name: String, _ labels: [String: String] = [:]) -> Double {
        samples(name).filter { sample in labels.allSatisfy { sample.labels[$0.key] == $0.value } }
            .reduce(0) { $0 + $1.value }
    }

    // MARK: - Lines

    private mutating func read(_ line: String) throws {
        let words = line.split(separator: " ", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard line.hasPrefix("#") else { return try readSample(line) }
        guard words.count >= 3, words[0] == "#" else { throw Failure(description: "a comment: \(line)") }
        let rest = words.count > 3 ? words[3] : ""
        switch words[1] {
        case "HELP":
            try begin(words[2])
            families[families.count - 1].help = try unescaped(rest, quotes: isOpenMetrics)
        case "TYPE":
            guard families.last?.name == words[2], families.last?.type == "" else {
                throw Failure(description: "a second type, or one apart from its help: \(line)")
            }
            guard ["counter", "gauge", "histogram"].contains(rest) else { throw Failure(description: line) }
            families[families.count - 1].type = rest
        case "UNIT" where isOpenMetrics:
            guard families.last?.name == words[2], words[2].hasSuffix("_" + rest) else {
                throw Failure(description: "a unit that its name does not end with: \(line)")
            }
            families[families.count - 1].unit = rest
        default: throw Failure(description: "a comment: \(line)")
        }
    }

    private mutating func begin(_ name: String) throws {
        guard isName(name) else { throw Failure(description: "no name: \(name)") }
        guard !families.contains(where: { $0.name == name }) else { throw Failure(description: "twice: \(name)") }
        families.append(Family(name: name, type: "", help: ""))
    }

    private mutating func readSample(_ line: String) throws {
        var rest = Array(line.unicodeScalars)[...]
        let name = String(String.UnicodeScalarView(rest.prefix { $0 != "{" && $0 != " " }))
        rest = rest.dropFirst(name.unicodeScalars.count)
        guard isName(name) else { throw Failure(description: "no name: \(line)") }
        var labels: [String: String] = [:]
        if rest.first == "{" {
            rest = rest.dropFirst()
            repeat {
                let (label, value) = try readLabel(&rest, line)
                guard labels.updateValue(value, forKey: label) == nil else {
                    throw Failure(description: "a label twice: \(line)")
                }
            } while rest.popFirst() == ","
            // The bracket was taken.
        }
        guard rest.popFirst() == " " else { throw Failure(description: "no space before the value: \(line)") }
        let text = String(String.UnicodeScalarView(rest))
        guard !text.contains(" "), let value = number(text) else { throw Failure(description: "no value: \(line)") }
        guard let family = families.last, belongs(name, to: family) else {
            throw Failure(description: "outside of its family: \(line)")
        }
        let sample = Sample(name: name, labels: labels, value: value, text: text)
        guard !family.samples.contains(where: { $0.name == name && $0.labels == labels }) else {
            throw Failure(description: "a series twice: \(line)")
        }
        families[families.count - 1].samples.append(sample)
    }

    private func readLabel(
        _ rest: inout ArraySlice<Unicode.Scalar>, _ line: String
    ) throws -> (name: String, value: String) {
        let name = String(String.UnicodeScalarView(rest.prefix { $0 != "=" }))
        rest = rest.dropFirst(name.unicodeScalars.count)
        guard isName(name), !name.contains(":"), rest.popFirst() == "=", rest.popFirst() == "\"" else {
            throw Failure(description: "a label: \(line)")
        }
        var raw = String.UnicodeScalarView()
        while let scalar = rest.popFirst(), scalar != "\"" {
            raw.append(scalar)
            if scalar == "\\", let next = rest.popFirst() { raw.append(next) }
        }
        guard let next = rest.first, next == "," || next == "}" else { throw Failure(description: "labels: \(line)") }
        return (name, try unescaped(String(raw), quotes: true))
    }

    private func unescaped(_ text: String, quotes: Bool) throws -> String {
        var plain = String.UnicodeScalarView()
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            if scalar == "\"", quotes { throw Failure(description: "a quotation mark: \(text)") }
            guard scalar == "\\" else {
                plain.append(scalar)
                continue
            }
            switch rest.popFirst() {
            case "\\": plain.append("\\")
            case "n": plain.append("\n")
            case "\"" where quotes: plain.append("\"")
            default: throw Failure(description: "an escape: \(text)")
            }
        }
        return String(plain)
    }

    private func number(_ text: String) -> Double? {
        switch text {
        case "+Inf": .infinity
        case "-Inf": -.infinity
        case "NaN": .nan
        default: text.allSatisfy { "0123456789.eE+-".contains($0) } ? Double(text) : nil
        }
    }

    private func isName(_ text: String) -> Bool { text.wholeMatch(of: #/[a-zA-Z_:][a-zA-Z0-9_:]*/#) != nil }

    private func belongs(_ name: String, to family: Family) -> Bool {
        switch family.type {
        case "histogram": ["_bucket", "_sum", "_count"].contains { name == family.name + $0 }
        case "counter" where isOpenMetrics: name == family.name + "_total"
        default: name == family.name
        }
    }

    // MARK: - Families

    private func check(_ family: Family) throws {
        guard !family.type.isEmpty else { throw Failure(description: "\(family.name) has no type") }
        if family.type == "counter" {
            guard family.samples.allSatisfy({ $0.value >= 0 && $0.value.isFinite }) else {
                throw Failure(description: "\(family.name) counts below zero")
            }
            guard isOpenMetrics != family.name.hasSuffix("_total") else { throw Failure(description: family.name) }
        }
        if family.type == "histogram" { try checkHistogram(family) }
    }

    private func checkHistogram(_ family: Family) throws {
        let buckets = family.samples.filter { $0.name.hasSuffix("_bucket") }
        let series = Dictionary(grouping: buckets) { $0.labels.filter { $0.key != "le" } }
        for (labels, buckets) in series {
            let bounds = buckets.map { number($0.labels["le"] ?? "") ?? .nan }
            let counts = buckets.map(\.value)
            let rest = family.samples.filter { $0.labels == labels }
            guard zip(bounds, bounds.dropFirst()).allSatisfy(<), bounds.last == .infinity else {
                throw Failure(description: "\(family.name): bounds \(bounds)")
            }
            guard zip(counts, counts.dropFirst()).allSatisfy(<=), (counts.first ?? 0) >= 0 else {
                throw Failure(description: "\(family.name): counts \(counts)")
            }
            guard rest.map(\.name) == [family.name + "_sum", family.name + "_count"], rest[1].value == counts.last
            else {
                throw Failure(description: "\(family.name): sum and count \(rest)")
            }
        }
    }
}
