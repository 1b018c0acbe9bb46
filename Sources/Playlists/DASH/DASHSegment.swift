import Primitives

/// A segment of a representation, or its initialization section.
package struct DASHSegment: Hashable, Sendable {
    /// Where it is.
    package let target: LinkTarget
    /// The bytes of it.
    package let extent: ByteExtent
    /// `$Number$`.
    package let number: Int64
    /// When it begins in its period, in seconds.
    package let start: Double
    /// In seconds; `nil` if unknown.
    package let duration: Double?
}

/// The media segments of a representation, in order, made one at a time.
///
/// Each counts in the budget of the MPD. The one with which the budget is exceeded is unreadable and the last one, so
/// that no part of a representation is taken for the whole.
package struct DASHSegments: Sequence {
    enum Source {
        /// One file.
        case file(DASHSegment)
        case list([SegmentInformation.Resource], SegmentSlots)
        case template(SegmentTemplate, SegmentSlots)
    }

    let mpd: MPD
    /// The base of the links.
    let base: URIReference
    let source: Source

    /// Number of segments.
    package var count: Int { slots?.count ?? 1 }
    /// Whether there are none.
    package var isEmpty: Bool { count == 0 }
    /// The first.
    package var first: DASHSegment? {
        var iterator = makeIterator()
        return iterator.next()
    }

    /// How long they are, known without making them; `nil` if there are none, or the duration of one is not known.
    package var times: SegmentTimes? {
        guard case .file(let file) = source else { return slots?.times }
        return file.duration.map { SegmentTimes(total: $0, longest: $0) }
    }

    private var slots: SegmentSlots? {
        switch source {
        case .file: nil
        case .list(_, let slots), .template(_, let slots): slots
        }
    }

    package struct Iterator: IteratorProtocol {
        private let segments: DASHSegments
        private var slots: SegmentSlots.Iterator?
        private var index = 0
        private var isEnded = false

        fileprivate init(_ segments: DASHSegments) {
            self.segments = segments
            slots = segments.slots?.makeIterator()
        }

        package mutating func next() -> DASHSegment? {
            guard !isEnded else { return nil }
            if case .file(let file) = segments.source {
                isEnded = true
                return file
            }
            guard let slot = slots?.next() else { return nil }
            let (target, extent) = place(of: slot)
            if case .leftAlone(.unreadable) = target, segments.mpd.budget.isExceeded || Cancellation.isRequested {
                isEnded = true
            }
            return DASHSegment(
                target: target, extent: extent, number: slot.number, start: slot.start, duration: slot.duration)
        }

        private mutating func place(of slot: SegmentClock.Slot) -> (LinkTarget, ByteExtent) {
            let (mpd, base) = (segments.mpd, segments.base)
            switch segments.source {
            case .file(let file): return (file.target, file.extent)
            case .list(let resources, _):
                let resource = resources[index]
                index += 1
                guard let link = resource.link else {
                    return (mpd.budget.target(of: URIReference(""), base: base), resource.extent)
                }
                return (mpd.target(of: mpd.links[link], base: base), resource.extent)
            case .template(let template, _):
                return (template.target(number: slot.number, time: slot.time, base: base, within: mpd.budget), .whole)
            }
        }
    }

    package func makeIterator() -> Iterator { Iterator(self) }
}
