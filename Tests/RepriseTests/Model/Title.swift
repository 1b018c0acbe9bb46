import ByteRanges
import HTTPSemantics
import Reprise

extension Model {
    /// The model's knowledge of one path.
    struct Title {
        /// The origin's current state.
        var face: Face
        var length: Int64
        var manner: Manner
        /// The states that may be stored: `face`, and former ones until they are known to be gone.
        var visible: Set<Face>
        /// Whether stored bytes have to be validated before they are used.
        var isStale = false
        /// The stored bytes of `face`; known only if nothing else can be stored.
        var kept = ByteRangeSet()

        init(version: UInt64, length: Int64, manner: Manner) {
            face = Face(version: version, validator: manner.validator)
            self.length = length
            self.manner = manner
            visible = [face]
        }

        /// Whether only the current state can be stored.
        var isCurrent: Bool { visible == [face] }

        /// Whether the file may count as an error in disguise, so that another one stays stored: it is short, and
        /// has no validator.
        var mayLookLikeAnError: Bool { !isCurrent && face.validator == .none && length < 64 << 10 }

        mutating func change(to version: UInt64, length: Int64) {
            self.length = length
            become(Face(version: version, validator: manner.validator))
        }

        mutating func behave(_ manner: Manner) {
            self.manner = manner
            become(Face(version: face.version, validator: manner.validator))
        }

        private mutating func become(_ next: Face) {
            guard next != face else { return }
            face = next
            visible.insert(face)
            kept = ByteRangeSet()
        }

        mutating func forget() {
            visible = [face]
            kept = ByteRangeSet()
        }

        /// Updates the knowledge with the results of a step.
        mutating func learn(_ step: Reading) {
            isStale = false
            if !step.outcomes.contains(where: \.isPassedThrough) {
                let errors = step.outcomes.compactMap(\.error)
                // A state that could not be joined stays for reads of its stored bytes, until another byte is read.
                for outcome in step.outcomes where outcome.count > 0 {
                    // One of them had it: the stored bytes are of this version, or newer.
                    visible = visible.filter { $0 == face || outcome.versions.contains($0.version) }
                    if outcome.versions == [face.version] { visible = visible.filter { $0.version == face.version } }
                }
                // The received bytes were joined with the stored ones, or replaced them.
                if step.outcomes.count == 1, errors.isEmpty, step.sent > 0, step.outcomes[0].count > 0,
                    !manner.passesThrough, !mayLookLikeAnError || step.outcomes[0].versions.contains(face.version)
                {
                    visible = [face]
                }
            }
            kept = isCurrent ? step.stored : ByteRangeSet()
        }
    }

    /// The result of one reader.
    struct Outcome {
        var start: Int64 = 0
        var count = 0
        /// The versions that have these bytes at this offset.
        var versions: Set<UInt64> = []
        var error: RepriseError.Code?
        var isPassedThrough = false
        var isPastStore = false

        var range: Range<Int64> { start..<start + Int64(count) }
    }

    /// One step in which a path was read: by which readers, what they received, what it cost, and which bytes are
    /// stored now.
    struct Reading {
        let title: Title
        /// The bytes each reader wants; `nil` for a range beyond the end.
        let wanted: [Range<Int64>?]
        let outcomes: [Outcome]
        /// Readers left before the end.
        let isLeft: Bool
        let sent: Int64
        let twice: Int64
        let stored: ByteRangeSet
        /// The origin has changed so often that it counts as one that splices, of which whole files are fetched.
        let isAhead: Bool

        /// The bytes that had to be fetched.
        var missing: Int64 { ByteRangeSet(wanted.compactMap(\.self)).subtracting(title.kept).byteCount }
        var hasError: Bool { outcomes.contains { $0.error != nil } }
    }
}
