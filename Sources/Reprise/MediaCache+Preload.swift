extension MediaCache {
    /// Sets what may be played soon: what is not in `resources` any more ends, what is new begins, the rest goes on.
    ///
    /// Call it as often as you like, such as from a scroll callback; an empty list ends everything. Bytes that have
    /// arrived stay stored. ``Preloads`` says what is under way, and ``PreloadAmount`` what part of a stream.
    ///
    /// ```swift
    /// cache.preload(clips, current: visible)
    /// ```
    /// - Parameters:
    ///   - resources: What is played, in order: a feed, a queue, an album.
    ///   - current: The index of what plays now, which is left to its player; `nil`, the default, if nothing does yet.
    ///   - amount: How much to store of what lies so many places behind the current one; before it, the distance is
    ///     negative. `nil` for nothing. By default as ``PreloadAmount/atDistance(_:)`` says.
    public func preload(
        _ resources: [MediaResource], current: Int? = nil,
        amount: (_ distance: Int) -> PreloadAmount? = PreloadAmount.atDistance
    ) {
        let places = Self.wantedPlaces(count: resources.count, current: current, amount: amount)
        preload(inOrder: places.map { (resources[$0.index], $0.amount) })
    }

    /// The indices of a list of which something is wanted, the nearest to the current one first.
    package static func wantedPlaces(
        count: Int, current: Int?, amount: (_ distance: Int) -> PreloadAmount?
    ) -> [(index: Int, amount: PreloadAmount)] {
        let current = current ?? -1
        let wanted = (0..<count).compactMap { index -> (distance: Int, index: Int, amount: PreloadAmount)? in
            let (distance, isTooFar) = index.subtractingReportingOverflow(current)
            guard !isTooFar, distance != 0, let amount = amount(distance) else { return nil }
            return (distance, index, amount)
        }
        // Of two that are equally far, the one that comes next.
        let sorted = wanted.sorted {
            ($0.distance.magnitude, $1.distance) < ($1.distance.magnitude, $0.distance)
        }
        return sorted.map { ($0.index, $0.amount) }
    }

    /// Sets what is preloaded, in this order; an `owner` calls ``endPreload(of:)`` when it goes.
    package func preload(
        inOrder wanted: [(resource: MediaResource, amount: PreloadAmount)], of owner: ObjectIdentifier? = nil
    ) {
        preloads.set(
            wanted.map { resource, amount in
                PreloadQueue.Wanted(key: resource.key, request: resource.originRequest, amount: amount)
            }, of: owner)
    }

    /// Ends what is preloaded for `owner`; what was set since for another one, or by the app, goes on.
    package func endPreload(of owner: ObjectIdentifier) { preloads.endList(of: owner) }
}
