public import HTTPTypes

/// Decides what a response means for the stored generation of the resource.
///
/// A pure function: the same arguments give the same action. It looks at the head only; the caller checks that the body
/// is as long as declared. Follow redirects first: a 3xx that arrives here is final.
///
/// - Parameters:
///   - request: The request that was sent.
///   - generation: The stored generation, or `nil` if there is none.
///   - policy: When bytes of different responses may be joined.
///   - response: Status and fields as received.
///   - finalHost: Host that answered, after redirects; `nil` leaves it unchecked.
///   - storage: Which restrictions on storing are honored.
/// - Returns: The action; ``ResponseAction/fill(_:)`` only where the body belongs to `generation`.
public func validate(
    _ request: FetchRequest, against generation: GenerationIdentity?, policy: GenerationPolicy,
    response: HTTPResponse, finalHost: String? = nil, storage: StoragePolicy = StoragePolicy()
) -> ResponseAction {
    let validation = ResponseValidation(
        request: request, generation: generation, policy: policy, response: response, finalHost: finalHost,
        storage: storage)
    switch response.status.code {
    case 200: return validation.ok()
    case 206: return validation.partialContent()
    case 304: return validation.notModified()
    case 412: return generation == nil ? .refusal : .generationChanged(.preconditionFailed)
    case 416: return validation.rangeNotSatisfiable()
    case 200..<300: return .passThrough(.unexpectedStatus)
    // A status beyond the five classes is treated as an error of the origin (RFC 9110 §15).
    case 300..<1000: return .refusal
    default: return .reject(.invalidStatus)
    }
}
