extension TestOrigin {
    /// An episode whose host splices other advertisements into it for each request, as podcast hosts do.
    ///
    ///     origin.splice(TestOrigin.SplicedEpisode(.redirects, seed: 7, length: 4_000_000), at: "/episode.mp3")
    ///
    /// Each request to its path gets the next rendition, counted from 1, with another length and other bytes at every
    /// offset.
    public struct SplicedEpisode: Sendable {
        /// How a request gets its rendition.
        public enum Delivery: String, Sendable, CaseIterable {
            /// It is redirected to the rendition's own URL, where that stays.
            case redirects
            /// The response is the rendition; the next one is another.
            case responses
        }

        /// How requests get their renditions.
        public var delivery: Delivery
        /// The pattern of the first rendition; that of each further one is one more.
        public var seed: UInt64
        /// The complete length of the shortest rendition.
        public var length: Int64
        /// Whether renditions have entity tags; all have the same Last-Modified, that of the episode.
        public var hasTags = true
        /// What follows `?rendition=1` in the URL of a rendition: `&Expires=…`, for instance.
        public var suffix = ""
        /// How each rendition is served.
        public var personality = Personality()

        /// Creates an episode with entity tags.
        public init(_ delivery: Delivery, seed: UInt64, length: Int64) {
            self.delivery = delivery
            self.seed = seed
            self.length = length
        }

        /// The bytes of a rendition.
        public func content(of rendition: Int) -> Content {
            .pattern(seed: seed + UInt64(rendition) - 1, length: length + Int64(rendition - 1) * 417)
        }

        /// The resource at the URL of a rendition.
        public func resource(of rendition: Int) -> Resource {
            Resource(
                content(of: rendition), etag: hasTags ? "\"rendition-\(rendition)\"" : nil, personality: personality)
        }

        /// The path of a rendition of the episode at `path`.
        public func target(of rendition: Int, at path: String) -> String { "\(path)?rendition=\(rendition)\(suffix)" }
    }

    /// Sets an episode that is spliced for each request at a path without a query.
    public func splice(_ episode: SplicedEpisode, at path: String) {
        var entry = episode.resource(of: 1)
        entry.override = { [weak self] _, number in
            var personality = episode.personality
            switch episode.delivery {
            case .redirects:
                let target = episode.target(of: number, at: path)
                self?.set(episode.resource(of: number), at: target)
                personality.redirect = target
            case .responses:
                let rendition = episode.resource(of: number)
                personality.representation = .init(content: rendition.content, etag: rendition.etag)
            }
            return personality
        }
        set(entry, at: path)
    }
}
