import Foundation

/// What `/-/status.json` of a server says.
struct ServerStatus: Decodable {
    /// A file that is read or fetched.
    struct Active: Decodable {
        let url: String
        let readers: Int
        let fetches: Int
        let storedBytes: Int64
        let completeLength: Int64?
        let spans: [[Int64]]
    }

    let connections: Int
    let answers: Int
    let active: [Active]

    init(_ json: Data) throws { self = try JSONDecoder().decode(Self.self, from: json) }

    /// One line about the file at `path` of an origin.
    func excerpt(of path: String) -> String {
        let sums = "\(connections) connections, \(answers) answers, \(active.count) files active"
        guard let file = active.first(where: { $0.url.hasSuffix(path) }) else { return "\(sums), not this one" }
        let length = file.completeLength.map { " of \($0)" } ?? ""
        let spans = file.spans.prefix(8).map { "\($0.first ?? 0)..<\($0.last ?? 0)" }.joined(separator: " ")
        return "\(sums), this one with readers: \(file.readers), fetches: \(file.fetches), "
            + "stored: \(file.storedBytes)\(length) (\(spans))"
    }
}
