import Foundation
import Primitives
import RepriseTesting

/// A file at an origin, with all its versions in this run.
final class MediaFile: Sendable {
    /// How its origin answers.
    enum Kind: String, CaseIterable, Sendable {
        /// A strong ETag and ranges.
        case strong
        /// Last-Modified and ranges, no ETag.
        case dated
        /// A weak ETag and ranges.
        case weak
        /// Ranges, no validator.
        case bare
        /// A strong ETag; Range is ignored.
        case rangeless
        /// A strong ETag, chunked without a length; Range is ignored.
        case chunked
        /// Ranges and `no-store`.
        case unstored
        /// A strong ETag, and different bytes for each Accept-Language.
        case varying
        /// A redirect to a path with a strong ETag.
        case moved
        /// A playlist's type, a strong ETag, `no-cache`.
        case playlist
        /// A segment of a stream: a strong ETag and ranges.
        case segment
        /// A new file that many clients want at once: a strong ETag and ranges.
        case premiere

        /// How many of a hundred files are of this kind.
        var share: Int {
            switch self {
            case .strong: 40
            case .dated: 12
            case .weak, .bare, .rangeless, .varying, .moved: 7
            case .unstored: 5
            case .chunked, .playlist: 4
            // Made when they are requested.
            case .segment, .premiere: 0
            }
        }

        /// The greatest length, in bytes; the least is 4 KiB.
        var maximumLength: Int64 {
            switch self {
            case .strong, .dated, .weak, .bare, .moved: 64 << 20
            case .rangeless, .unstored, .varying: 4 << 20
            case .chunked: 2 << 20
            case .playlist: 64 << 10
            case .segment: 256 << 10
            case .premiere: 2 << 20
            }
        }

        /// Whether a response can be continued with bytes of another one (RFC 9110 §15.3.7.3).
        var isJoinable: Bool {
            switch self {
            case .strong, .dated, .varying, .moved, .playlist, .segment, .premiere: true
            case .weak, .bare, .rangeless, .chunked, .unstored: false
            }
        }

        /// Whether its URL has one representation, which a cache may keep without validating it again.
        var isPlain: Bool { self == .strong || self == .dated || self == .moved }
    }

    private struct State {
        var lengths: [Int64]
        var changes: [Double]
        var openFaults = 0
        var lastFault = -Double.infinity
    }

    let number: Int
    let kind: Kind
    /// The origin that has it.
    let origin: Int
    private let seed: UInt64
    private let state: Mutex<State>

    init(number: Int, kind: Kind, origin: Int, length: Int64, seed: UInt64) {
        self.number = number
        self.kind = kind
        self.origin = origin
        self.seed = seed &+ UInt64(number) << 32
        state = Mutex(State(lengths: [length], changes: [-.infinity]))
    }

    /// The path that clients request.
    var path: String {
        let ending =
            switch kind {
            case .playlist: "m3u8"
            case .segment: "ts"
            default: "mp4"
            }
        return "/\(kind)/\(number).\(ending)"
    }

    /// The path that has the bytes.
    var finalPath: String { kind == .moved ? "/moved-here/\(number).mp4" : path }

    // MARK: Versions

    /// The origin's current representation.
    func current(language: Int) -> Representation {
        state.withLock { [seed] in
            Self.representation($0.lengths.count - 1, $0.lengths[$0.lengths.count - 1], language, seed)
        }
    }

    /// All representations that the origin has had so far.
    func representations(language: Int) -> [Representation] {
        state.withLock { [seed] state in
            state.lengths.enumerated().map { Self.representation($0.offset, $0.element, language, seed) }
        }
    }

    /// The version that the origin had at that time.
    func version(at time: Double) -> Int {
        state.withLock { ($0.changes.lastIndex { $0 <= time }) ?? 0 }
    }

    /// Replaces the current representation.
    func change(length: Int64, at time: Double) {
        state.withLock { state in
            state.lengths.append(length)
            state.changes.append(time)
        }
    }

    private static func representation(
        _ version: Int, _ length: Int64, _ language: Int, _ seed: UInt64
    ) -> Representation {
        Representation(version: version, length: length, seed: seed &+ UInt64(version) << 8 &+ UInt64(language))
    }

    // MARK: Faults

    /// Notes that a faulty answer began.
    func faultBegan() { state.withLock { $0.openFaults += 1 } }

    /// Notes that a faulty answer ended.
    func faultEnded(at time: Double) {
        state.withLock { state in
            state.openFaults -= 1
            state.lastFault = time
        }
    }

    /// When an answer was last faulty; infinite while one is.
    var lastTrouble: Double { state.withLock { $0.openFaults > 0 ? .infinity : $0.lastFault } }

    /// Whether an answer since then was faulty.
    func hadFault(since time: Double) -> Bool { lastTrouble >= time }
}
