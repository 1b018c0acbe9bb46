import Reprise

/// An error beside an outcome: what was done counts all the same.
struct Problem: Codable, Sendable {
    private let code, message: String
    private let status: Int?

    init(_ error: RepriseError) {
        (code, message, status) = ("\(error.code)", error.explanation, error.statusCode)
    }

    /// The error, as it was.
    var error: RepriseError { RepriseError(reported: code, message, status: status) }
}
