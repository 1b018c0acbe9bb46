public import HTTPTypes

extension HTTPFields {
    /// The fields of a response that are worth storing: end-to-end ones (RFC 9111 §3.1), without those that `no-cache`
    /// or, in a shared cache, `private` name, because they could not be sent again without asking (RFC 9111 §5.2.2).
    public func storable(isShared: Bool) -> HTTPFields {
        let control = CacheControl(self)
        let dropped = Set(control.noCacheFields + (isShared ? control.privateFields : []))
        let fields = endToEnd
        return dropped.isEmpty ? fields : fields.filter { !dropped.contains($0.name.canonicalName) }
    }

    /// These stored fields, brought up to date by a response that validated them (RFC 9111 §3.2).
    ///
    /// Fields that the response has take the place of the stored ones. Those that describe the stored bytes stay as they
    /// are: they belong to the message that brought the bytes.
    public func freshened(by response: HTTPFields, isShared: Bool) -> HTTPFields {
        let news = response.storable(isShared: isShared).filter { !Self.ofBody.contains($0.name.canonicalName) }
        var result = self
        for name in Set(news.map(\.name)) { result[values: name] = [] }
        // Age speaks of one transfer: without a new one the response comes straight from the origin.
        result[.age] = nil
        for field in news { result.append(field) }
        return result
    }

    private static var ofBody: Set<String> {
        ["content-length", "content-encoding", "content-range", "transfer-encoding"]
    }
}
