import HTTPSemantics

/// When a signed URL says that it ends.
///
/// Understands the query items of Amazon S3 and CloudFront, Google Cloud Storage, Azure, and `exp` inside Akamai's
/// tokens. Anything else counts as a URL without an end: a wrong guess costs one refused request.
enum URLExpiry {
    /// Times from here on are milliseconds: in seconds they would lie beyond the year 5000.
    private static let firstMilliseconds: Int64 = 100_000_000_000
    /// Longest lifetime that is added to a date, in seconds; beyond it the item is ignored.
    private static let longestLifetime: Int64 = 10 * 366 * 86_400

    /// The earliest end that `url` names, in seconds since 1970; `nil` if it names none.
    static func end(of url: ResourceURL) -> Int64? {
        let items = items(of: url)
        var ends: [Int64] = []
        if let text = items["expires"] ?? items["exp"], let end = seconds(text) { ends.append(end) }
        for vendor in ["x-amz-", "x-goog-"] {
            guard let date = items[vendor + "date"].flatMap({ HTTPDate(iso8601: $0) }),
                let lifetime = items[vendor + "expires"].flatMap({ Int64($0) }),
                (0...longestLifetime).contains(lifetime)
            else { continue }
            ends.append(date.secondsSince1970 + lifetime)
        }
        if let end = items["se"].flatMap({ HTTPDate(iso8601: $0) }) { ends.append(end.secondsSince1970) }
        for name in ["hdnea", "hdnts", "hdntl", "__token__"] {
            let parts = items[name]?.split(separator: "~") ?? []
            for part in parts where part.hasPrefix("exp=") {
                if let end = seconds(String(part.dropFirst("exp=".count))) { ends.append(end) }
            }
        }
        return ends.min()
    }

    private static func seconds(_ text: String) -> Int64? {
        guard let value = Int64(text), value > 0 else { return nil }
        return value >= firstMilliseconds ? value / 1000 : value
    }

    /// The first item of each name, in lower case.
    ///
    /// Colons, equal signs and tildes are decoded, which is all that times need.
    private static func items(of url: ResourceURL) -> [String: String] {
        guard let question = url.target.firstIndex(of: "?") else { return [:] }
        var items: [String: String] = [:]
        for item in url.target[url.target.index(after: question)...].split(separator: "&") {
            guard let equals = item.firstIndex(of: "=") else { continue }
            let name = item[..<equals].lowercased()
            if items[name] == nil { items[name] = decoded(item[item.index(after: equals)...]) }
        }
        return items
    }

    private static func decoded(_ text: Substring) -> String {
        var result = ""
        var rest = text
        while let percent = rest.firstIndex(of: "%") {
            result += rest[..<percent]
            let code = rest[percent...].prefix(3)
            switch code.uppercased() {
            case "%3A": result += ":"
            case "%3D": result += "="
            case "%7E": result += "~"
            default: result += code
            }
            rest = rest[percent...].dropFirst(3)
        }
        return result + rest
    }
}
