import HTTPSemantics

extension MediaResource {
    /// Stores `amount`, and returns when it is on disk.
    ///
    /// Fetches only holes, and pauses while a reader waits for bytes from the same origin in order to play them
    /// (``Demand``). A read that begins during the fetch joins it. Canceling the task ends the fetch; bytes that have
    /// arrived stay stored. Returns immediately if `amount` is empty. Throws the errors of
    /// ``read(_:fields:directives:demand:onInterim:)``, such as `invalidArgument` for a negative offset. If nothing can
    /// be stored, it only transfers bytes.
    public func prefetch(_ amount: PrefetchAmount) async throws {
        let read: MediaRead
        switch amount {
        case .first(let count) where count <= 0: return
        case .range(let range) where range.isEmpty: return
        case .first(let count): read = try await self.read(.bounded(0..<count), demand: .preload)
        case .range(let range): read = try await self.read(.bounded(range), demand: .preload)
        case .all: read = try await self.read(demand: .preload)
        }
        while try await read.next() != nil {}
    }
}
