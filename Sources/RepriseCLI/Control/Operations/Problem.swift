import Reprise

/// An error beside an outcome: what was done counts all the same.
struct Problem: Codable, Sendable {
    private let code, message: String

    init(_ error: RepriseError) { (code, message) = ("\(error.code)", error.explanation) }

    /// The error, as it was.
    var error: RepriseError { RepriseError(.init(code), message) }
}
