import HTTPSemantics

extension RepriseError {
    /// The error for a response that cannot be used, in words.
    static func unusable(_ action: ResponseAction) -> RepriseError {
        let what =
            switch action {
            case .reject(let reason): reason.words
            case .passThrough(.contradictoryRange):
                "it sent a whole file (200) that says that it is a part (Content-Range). Only its operator can correct that."
            case .retryWithoutRange: "it refuses the requested range (416) without a reason."
            default: "it does not fit the request."
            }
        return RepriseError(.originMisbehaved, "The origin's response cannot be used: \(what)")
    }
}

extension RejectionReason {
    /// What the origin did, and what helps.
    fileprivate var words: String {
        switch self {
        case .unrequestedPartialContent:
            "it sent a part (206) although the whole file was requested. Only its operator can correct that."
        case .invalidContentRange:
            "it sent a part (206) without saying correctly which part it is (Content-Range). Only its operator can "
                + "correct that."
        case .multipart: "it sent several parts (206) although one was requested. Only its operator can correct that."
        case .wrongStart: "it sent another part (206) than the requested one. Only its operator can correct that."
        case .contentLength: "it contradicts itself about the length (206 or 200). Only its operator can correct that."
        case .unrequestedNotModified:
            "it answered that nothing has changed (304), which was not the question. Try again later."
        case .invalidStatus: "its status code is not valid. Only its operator can correct that."
        }
    }
}
