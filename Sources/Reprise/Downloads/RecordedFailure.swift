import HTTPSemantics
import HTTPTypes

/// The error of a download as it is recorded for the next process, and what can be made of it there.
extension RecordCodec.Failure {
    init(_ error: RepriseError) {
        (code, message) = ("\(error.code)", error.explanation)
        status = error.refusal?.head.status.code
        remedy = error.remedy?.rawValue
    }

    /// The error, without its cause; the origin's answer is its status alone.
    var error: RepriseError {
        let refusal = status.flatMap { code in
            (100...999).contains(code)
                ? OriginRefusal(head: HTTPResponse(status: .init(code: code)), body: [], age: nil) : nil
        }
        var error = RepriseError(.init(code), message, refusal: refusal)
        error.remedy = remedy.flatMap { RepriseError.Remedy(rawValue: $0) }
        return error
    }
}
