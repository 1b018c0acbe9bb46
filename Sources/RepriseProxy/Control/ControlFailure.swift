import Reprise

/// Why a request for control is not carried out, with the status to answer.
package struct ControlFailure: Error, Equatable {
    let status: Int
    /// What is wrong and what helps, for people.
    let message: String
    /// The name of the error in JSON.
    var code = "invalidArgument"
    /// The methods that the path takes, for `Allow` (RFC 9110 §15.5.6).
    var allowed: [String] = []
    /// Seconds after which the client may try again, for `Retry-After`.
    var retryAfter: Int?

    /// The code of a path that there is not, such as that of an operation of another version.
    package static let unknownPath = "unknownPath"

    static let unknownTitle = ControlFailure(404, "Nothing is stored under this identifier.", code: "notStored")

    init(_ status: Int, _ message: String, code: String = "invalidArgument") {
        (self.status, self.message, self.code) = (status, message, code)
    }

    /// The body of the answer.
    struct Body: Codable, Sendable {
        let error: String
        let code: String
    }

    var body: Body { Body(error: message, code: code) }
}
