import HTTPSemantics

/// The variants of one resource: the live resources that its primary key stands for (RFC 9111 §4.1).
struct Variants: Sendable {
    private let primary: LiveResource

    /// The variants that `resource` is one of, or stands for.
    init(of resource: LiveResource) { primary = resource.primary ?? resource }

    /// The variant that `vary` selects for `request`.
    func resource(by vary: Vary, for request: OriginRequest) throws(RepriseError) -> LiveResource {
        try primary.engine.resource(primary.key.variant(by: vary, for: request), variantOf: primary)
    }

    /// Where a response belongs that names these selecting fields and answers `request` for `resource`: there, or in a
    /// variant.
    ///
    /// Fields that an earlier response named count as well, because its variants may still be stored.
    func home(of resource: LiveResource, by vary: Vary?, for request: OriginRequest) throws(RepriseError)
        -> LiveResource
    {
        let known = primary.vary ?? Vary(names: [])
        let all = known.union(vary ?? Vary(names: []))
        guard !all.isEmpty else { return resource }
        let home = try self.resource(by: all, for: request)
        if all != known { primary.varies(by: all) }
        primary.engine.store?.recorder.noteVariant(home.key, of: primary.key, by: all)
        return home
    }
}
