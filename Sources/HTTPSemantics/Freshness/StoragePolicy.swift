/// Which of the origin's restrictions on storing are honored.
public struct StoragePolicy: Sendable, Hashable {
    /// Whether `no-store` is honored (RFC 9111 §5.2.2.5).
    public var honorsNoStore: Bool
    /// Whether the cache serves several users, so that `private` forbids storing (RFC 9111 §5.2.2.7).
    public var isShared: Bool

    /// Whether the request carried Authorization; a shared cache then stores only responses that explicitly allow it
    /// (RFC 9111 §3.5).
    public var hasAuthorization: Bool
    /// Whether the request said `no-store` (RFC 9111 §5.2.1.5).
    public var requestForbidsStoring: Bool
    /// Names of request fields, in lower case, that may have changed the response; a shared cache stores it only if its
    /// Vary names them all.
    package var unkeyedFields: Set<String> = []

    /// Creates a policy; by default that of one user's cache, which honors `no-store`.
    public init(
        honorsNoStore: Bool = true, isShared: Bool = false, hasAuthorization: Bool = false,
        requestForbidsStoring: Bool = false
    ) {
        self.honorsNoStore = honorsNoStore
        self.isShared = isShared
        self.hasAuthorization = hasAuthorization
        self.requestForbidsStoring = requestForbidsStoring
    }

    /// Why a response with these directives must not be stored; `nil` if it may.
    ///
    /// `must-understand` with a status that the cache knows overrides `no-store` (RFC 9111 §5.2.2.3).
    ///
    /// `vary` is the response's.
    public func objection(
        to control: CacheControl, vary: Vary? = nil, statusIsUnderstood: Bool = true
    ) -> PassThroughReason? {
        let overrulesNoStore = control.mustUnderstand && statusIsUnderstood
        if honorsNoStore {
            if requestForbidsStoring || control.noStore && !overrulesNoStore { return .noStore }
            if control.mustUnderstand && !statusIsUnderstood { return .noStore }
        }
        guard isShared else { return nil }
        if control.isPrivate { return .isPrivate }
        if !unkeyedFields.isSubset(of: vary?.names ?? []) { return .unkeyedFields }
        let isAllowed = control.isPublic || control.mustRevalidate || control.sharedMaxAge != nil
        return hasAuthorization && !isAllowed ? .authorization : nil
    }
}
