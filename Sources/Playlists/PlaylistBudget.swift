import Primitives

/// The work that one playlist may cause, from its parser to its editor.
///
/// A playlist of a few kilobytes can stand for gigabytes of links: a template is expanded for each segment, a `BaseURL`
/// is joined with each link below it. Everything that reads, resolves, enumerates or writes a playlist counts its steps
/// and the bytes that it makes in the budget of that playlist. A budget that is exceeded stays exceeded.
package final class PlaylistBudget: Sendable {
    private struct State {
        var steps = 0
        var bytes = 0
        var isExceeded = false
        /// Work until the task is checked for cancellation.
        var unchecked = 0
    }

    /// The limits of the playlist.
    package let limits: PlaylistLimits
    /// Most steps.
    package let mostSteps: Int
    /// Most bytes that are made of the playlist, whether they are kept or not.
    package let mostBytes: Int
    /// A leaf.
    private let state = Mutex(State())

    /// Steps between two checks for cancellation; a step that makes many bytes counts as several.
    private static let checkInterval = 1024
    private static let bytesPerStep = 256
    /// Bytes of a text that a parser goes through in one step.
    static let bytesPerScanningStep = 16

    /// The budget of a playlist of `count` bytes.
    package init(_ limits: PlaylistLimits = PlaylistLimits(), forInput count: Int) {
        self.limits = limits
        mostSteps = Self.scaled(count, by: 2, above: limits.steps)
        mostBytes = Self.scaled(count, by: 8, above: limits.madeBytes)
    }

    private static func scaled(_ count: Int, by factor: Int, above base: Int) -> Int {
        let (product, overflowed) = count.multipliedReportingOverflow(by: factor)
        let (sum, carried) = product.addingReportingOverflow(base)
        return overflowed || carried ? .max : sum
    }

    /// The steps taken and the bytes made so far.
    package var spent: (steps: Int, bytes: Int) { state.withLock { ($0.steps, $0.bytes) } }

    /// Counts steps and bytes before they are taken and made.
    ///
    /// Throws `budgetExceeded`, or `canceled` in a canceled task, which is looked at every 1,024 steps.
    package func spend(steps: Int = 1, bytes: Int = 0) throws(PlaylistError) {
        let (isExceeded, isCheckDue) = state.withLock { state in
            guard !state.isExceeded else { return (true, false) }
            guard steps <= mostSteps - state.steps, bytes <= mostBytes - state.bytes else {
                state.isExceeded = true
                return (true, false)
            }
            state.steps += steps
            state.bytes += bytes
            state.unchecked += steps + bytes / Self.bytesPerStep
            guard state.unchecked >= Self.checkInterval else { return (false, false) }
            state.unchecked = 0
            return (false, true)
        }
        if isExceeded { throw exceeded }
        if isCheckDue, Cancellation.isRequested { throw Self.canceled }
    }

    /// Counts a value that is kept in memory for the text.
    func keep<Value>(_ type: Value.Type) throws(PlaylistError) { try spend(bytes: MemoryLayout<Value>.stride) }

    /// Counts steps and bytes as ``spend(steps:bytes:)`` does; false where that would throw.
    package func allows(steps: Int = 1, bytes: Int = 0) -> Bool {
        do throws(PlaylistError) {
            try spend(steps: steps, bytes: bytes)
            return true
        } catch {
            return false
        }
    }

    /// Throws `budgetExceeded` if the budget was exceeded, or `canceled` in a canceled task.
    ///
    /// Call it after work that marks what it could not do instead of throwing, such as resolving links.
    package func check() throws(PlaylistError) {
        if isExceeded { throw exceeded }
        if Cancellation.isRequested { throw Self.canceled }
    }

    /// Whether the budget was exceeded.
    package var isExceeded: Bool { state.withLock { $0.isExceeded } }

    /// Where `reference` leads from `base`; throws as ``spend(steps:bytes:)`` does.
    package func resolve(_ reference: URIReference, against base: URIReference) throws(PlaylistError) -> URIReference {
        // At least as much as comes out: what is dropped on the way, such as directories before "..", is work, too.
        let keepsQuery = reference.withoutQuery.isEmpty
        let outer = reference.namesHost ? 0 : keepsQuery ? base.bytes.count : base.withoutQuery.count
        try spend(bytes: reference.bytes.count + outer)
        return reference.resolved(against: base)
    }

    /// Where `reference` leads from `base`; unreadable once the budget is exceeded.
    func target(of reference: URIReference, base: URIReference) -> LinkTarget {
        do throws(PlaylistError) {
            return LinkTarget(resolved: try resolve(reference, against: base))
        } catch {
            return .leftAlone(.unreadable(error.code))
        }
    }

    private var exceeded: PlaylistError {
        PlaylistError(
            .budgetExceeded,
            "The playlist stands for too much: more than \(mostSteps) steps, or \(mostBytes) bytes of links.")
    }

    private static let canceled = PlaylistError(.canceled, "The work was canceled.")
}

/// How much of a playlist is read; beyond it the parsers throw, and the list can be passed on unedited.
package struct PlaylistLimits: Hashable, Sendable {
    /// Maximum size of the text, in bytes; 8 MiB by default.
    package var size = 8 << 20
    /// Maximum number of lines of an HLS playlist; 200,000 by default.
    package var lines = 200_000
    /// Maximum length of a line, or of a tag or text in XML, in bytes; 1 MiB by default.
    package var lineLength = 1 << 20
    /// Maximum number of links; 200,000 by default.
    package var links = 200_000
    /// Maximum depth of XML elements; 64 by default.
    package var depth = 64
    /// Maximum number of XML elements; 1,000,000 by default.
    package var elements = 1_000_000
    /// Maximum length of a link after its variables are expanded, in bytes; 64 KiB by default, as for a request line.
    package var linkLength = 64 << 10
    /// Maximum number of keys that hold at once, each of another format; 16 by default.
    package var keyFormats = 16
    /// Maximum number of kept ``HLSPlaylist/problems``; 32 by default.
    package var problems = 32

    /// Steps that reading, resolving and editing a playlist may take, besides two for each of its bytes; 1,000,000 by
    /// default.
    package var steps = 1_000_000
    /// Bytes that may be made of a playlist, such as links, besides eight for each of its bytes; 64 MiB by default.
    package var madeBytes = 64 << 20

    /// Creates the default limits.
    package init() {}

    /// Limits for a first attempt to parse a text of `count` bytes; `nil` for a large text.
    ///
    /// Nearly every playlist of this size stays within them. For the rest, the attempt fails quickly.
    package func quick(forInput count: Int) -> PlaylistLimits? {
        guard count <= 256 << 10 else { return nil }
        var quick = self
        (quick.steps, quick.madeBytes) = (min(steps, 50_000), min(madeBytes, 4 << 20))
        return quick
    }

    /// Maximum size of the edited text and of everything that variables expand to: twice the input and 1 MiB.
    package func output(forInput count: Int) -> Int {
        let (double, overflowed) = count.multipliedReportingOverflow(by: 2)
        let (sum, carried) = double.addingReportingOverflow(1 << 20)
        return overflowed || carried ? .max : sum
    }

    /// Throws when a text of `count` bytes is too large.
    func check(size count: Int) throws(PlaylistError) {
        guard count <= size else {
            throw PlaylistError(.tooLarge, "The playlist is longer than \(size) bytes.")
        }
    }
}
