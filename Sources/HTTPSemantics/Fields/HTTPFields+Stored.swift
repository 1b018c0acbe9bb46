public import HTTPTypes

extension HTTPFields {
    /// The fields of a response that are worth storing: end-to-end ones (RFC 9111 §3.1), except those named by
    /// `no-cache` or, in a shared cache, by `private`, because they could not be reused without validation (RFC 9111
    /// §5.2.2).
    public func storable(isShared: Bool) -> HTTPFields {
        let control = CacheControl(self)
        let dropped = Set(control.noCacheFields + (isShared ? control.privateFields : []))
        let fields = endToEnd
        return dropped.isEmpty ? fields : fields.filter { !dropped.contains($0.name.canonicalName) }
    }

    /// These stored fields, updated by a response that validated them (RFC 9111 §3.2).
    ///
    /// Fields in the response replace the stored ones. Fields that describe the stored bytes are kept, because they
    /// belong to the message that brought the bytes.
    public func freshened(by response: HTTPFields, isShared: Bool) -> HTTPFields {
        let news = response.storable(isShared: isShared).filter { !Self.ofBody.contains($0.name.canonicalName) }
        var result = self
        for name in Set(news.map(\.name)) { result[values: name] = [] }
        // Age describes one transfer; a response without it comes straight from the origin.
        result[.age] = nil
        for field in news { result.append(field) }
        return result
    }

    private static var ofBody: Set<String> {
        ["content-length", "content-encoding", "content-range", "transfer-encoding"]
    }
}

extension HTTPFields {
    /// The first content coding that changes the bytes, in lowercase, such as `gzip`; `nil` if there is none.
    ///
    /// Only registered codings count. Other values that servers send, such as `none`, `utf-8` or S3's `aws-chunked`,
    /// leave the bytes of the file unchanged.
    package var contentCoding: String? {
        self[values: .contentEncoding].lazy.flatMap { $0.split(separator: ",") }
            .map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
            .first { Self.contentCodings.contains($0) }
    }

    /// The registered content codings (IANA), without `identity`.
    private static let contentCodings: Set<String> = [
        "aes128gcm", "br", "compress", "dcb", "dcz", "deflate", "exi", "gzip", "pack200-gzip", "x-compress", "x-gzip",
        "zstd",
    ]
}
