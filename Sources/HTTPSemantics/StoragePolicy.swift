/// Which of the origin's restrictions on storing are kept.
public struct StoragePolicy: Sendable, Hashable {
    /// Whether `no-store` is honoured (RFC 9111 §5.2.2.5).
    public var honoursNoStore: Bool
    /// Whether the cache serves several users, so that `private` forbids storing (RFC 9111 §5.2.2.7).
    public var isShared: Bool

    /// Creates a policy; by default that of one user's cache which honours `no-store`.
    public init(honoursNoStore: Bool = true, isShared: Bool = false) {
        self.honoursNoStore = honoursNoStore
        self.isShared = isShared
    }
}
