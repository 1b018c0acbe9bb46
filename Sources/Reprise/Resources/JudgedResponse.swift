import HTTPSemantics

/// A response of the origin and the action that it allows.
struct JudgedResponse: Sendable {
    let response: OriginResponse
    let requestTime: Int64
    let action: ResponseAction
}
