/// Finds the bytes that a player needs to play the first seconds of a file.
///
/// A value without I/O: it says which bytes it must see, and the caller brings them.
///
/// ```swift
/// var timer = MediaTimer(first: .seconds(10), completeLength: length)
/// while case .needs(let need) = timer.next() {
///     timer.receive(try await read(need.window), at: need.window.lowerBound)
/// }
/// ```
///
/// Files with tables (MP4) take two or three windows. Other formats are walked: the windows follow one another through
/// bytes that belong to the result anyway, so a read that goes on serves them all. What a file claims costs nothing by
/// itself: ``TimingLimits`` bound the windows, the bytes in them and the steps. Beyond them the result is an estimate.
package struct MediaTimer: Sendable {
    /// What the caller does next.
    package enum Step: Hashable, Sendable {
        /// Bring the bytes of the window with ``MediaTimer/receive(_:at:)``, then ask again.
        ///
        /// If the need is optional and costs all bytes before it, set ``MediaTimer/comesInOrder`` instead.
        case needs(MediaNeed)
        /// Nothing more: these are the bytes.
        case done(MediaStart)
    }

    private enum State: Sendable {
        case detecting
        case reading(any FormatReader)
        case done(MediaStart)
    }

    private let goal: Double
    private let limits: TimingLimits
    private var bytes: MediaBytes
    private var state = State.detecting
    private var windows = 0
    private var asked: Int64 = 0
    private var lastStep: Step?

    /// Creates a timer for the first `duration` of a file of `completeLength` bytes, `nil` if that is not known.
    package init(first duration: Duration, completeLength: Int64?, limits: TimingLimits = TimingLimits()) {
        goal = max(0, duration / .seconds(1))
        self.limits = limits
        bytes = MediaBytes(length: completeLength.map { max(0, $0) }, window: limits.smallestWindow)
    }

    /// Whether each byte costs all bytes before it, as at an origin that ignores ranges; false by default.
    ///
    /// What a player does without is left out then, if it lies behind the first seconds.
    package var comesInOrder: Bool {
        get { bytes.comesInOrder }
        set { bytes.comesInOrder = newValue }
    }

    /// Takes bytes that stand at `offset`: a window, a part of one, or more than was asked for.
    ///
    /// No bytes at all mean that the file ends there, as with ``end(at:)``.
    package mutating func receive(_ piece: [UInt8], at offset: Int64) {
        guard offset >= 0, offset <= MediaBytes.largestPosition - Int64(piece.count) else { return }
        if piece.isEmpty { bytes.end(at: offset) } else { bytes.insert(piece, at: offset) }
    }

    /// Takes note that the file ends at `position`, for files of unknown or wrong complete length.
    package mutating func end(at position: Int64) {
        bytes.end(at: max(0, position))
    }

    /// The bytes to bring, or the result; the same again until bytes or the end are received.
    package mutating func next() -> Step {
        let step = advance()
        lastStep = step
        return step
    }

    private mutating func advance() -> Step {
        while true {
            switch state {
            case .done(let start): return .done(start)
            case .detecting:
                do throws(Stop) {
                    state = .reading(try FormatSignature.reader(of: bytes, goal: goal, limits: limits))
                } catch {
                    if case .missing(let need) = error, let need = admitted(need) { return .needs(need) }
                    state = .done(MediaStart(unknownOf: bytes.length))
                }
            case .reading(var reader):
                do throws(Stop) {
                    let ranges = try reader.read(bytes)
                    state = .done(MediaStart(ranges, of: reader.format, basis: .exact, length: bytes.length))
                } catch {
                    if case .missing(let need) = error, let need = admitted(reader.extended(need, goal: goal)) {
                        bytes.discard(before: reader.keptFrom)
                        state = .reading(reader)
                        return .needs(need)
                    }
                    state = .done(reader.estimate(goal: goal, length: bytes.length))
                }
            }
        }
    }

    /// The window if the limits allow another one.
    private mutating func admitted(_ need: MediaNeed) -> MediaNeed? {
        if case .needs(need) = lastStep { return need }
        windows += 1
        asked += Int64(need.window.count)
        guard windows <= limits.windows, asked <= limits.bytesSeen, bytes.held <= limits.bytesHeld else { return nil }
        // Larger windows later, so that there are few, but never much of what is not needed.
        bytes.window = min(max(asked / 16, limits.smallestWindow), limits.largestWindow)
        return need
    }
}

/// Bytes that a ``MediaTimer`` must see before it can go on.
package struct MediaNeed: Hashable, Sendable {
    /// The bytes to bring; not empty, at most ``TimingLimits/largestWindow`` unless a table is read as a whole.
    package let window: Range<Int64>
    /// Bytes around the window that belong to the result, as far as is known.
    ///
    /// One request can bring them all; the timer only has to receive the window.
    package let extent: Range<Int64>
    /// Whether there is a result without these bytes, for which ``MediaTimer/comesInOrder`` is set.
    package let isOptional: Bool

    /// Creates a need; the extent grows to contain the window.
    init(window: Range<Int64>, extent: Range<Int64>, isOptional: Bool = false) {
        (self.window, self.isOptional) = (window, isOptional)
        self.extent =
            min(window.lowerBound, extent.lowerBound)..<max(window.upperBound, extent.upperBound)
    }
}

/// How much a ``MediaTimer`` looks at; beyond it the result is an estimate.
package struct TimingLimits: Hashable, Sendable {
    /// Maximum number of windows; 1,024 by default.
    package var windows = 1024
    /// Maximum size of all windows together, in bytes; 32 MiB by default.
    package var bytesSeen: Int64 = 32 << 20
    /// Maximum size of the bytes in memory, in bytes; 8 MiB by default.
    package var bytesHeld = 8 << 20
    /// Size of the first windows, in bytes; 16 KiB by default.
    package var smallestWindow: Int64 = 16 << 10
    /// Size of the largest windows, in bytes; 256 KiB by default.
    package var largestWindow: Int64 = 256 << 10
    /// Up to this size a table is one window, in bytes; 1 MiB by default.
    package var wholeTable: Int64 = 1 << 20
    /// Maximum number of samples, table entries, frames and elements that are counted; 1,000,000 by default.
    package var steps = 1_000_000

    /// Creates the default limits.
    package init() {}
}
