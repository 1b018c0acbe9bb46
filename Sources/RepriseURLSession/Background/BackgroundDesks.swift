import Foundation
import Primitives

/// The desks of a process, one for each identifier of a background session: of two sessions with one identifier the
/// system would tell only one what has come.
///
/// They stay until the process ends, as their sessions do.
final class BackgroundDesks: Sendable {
    #if canImport(Darwin)
        /// Those with sessions of the system, whose folders lie in the caches folder.
        static let shared: BackgroundDesks? = BackgroundDesks(in: .cachesDirectory) {
            SystemSession(.makeBackground($0), delegate: $1)
        }
    #else
        /// There are no such sessions.
        static let shared: BackgroundDesks? = nil
    #endif

    private let root: URL
    private let makeSession: @Sendable (String, TransferDesk) -> any BackgroundSession
    private let desks = Mutex<[String: TransferDesk]>([:])
    private let events = SystemEvents()

    /// Creates none yet; their folders will lie in `root`.
    init(_ root: URL, makeSession: @escaping @Sendable (String, TransferDesk) -> any BackgroundSession) {
        (self.root, self.makeSession) = (root, makeSession)
    }

    /// Their folders will lie in one of the user's, or in the temporary one where there is none.
    convenience init(
        in directory: FileManager.SearchPathDirectory,
        makeSession: @escaping @Sendable (String, TransferDesk) -> any BackgroundSession
    ) {
        let folder = FileManager.default.urls(for: directory, in: .userDomainMask).first
        self.init(
            (folder ?? FileManager.default.temporaryDirectory)
                .appendingPathComponent("Reprise transfers", isDirectory: true),
            makeSession: makeSession)
    }

    /// The desk for `identifier`, with its session.
    func desk(_ identifier: String) -> TransferDesk {
        desks.withLock { desks in
            if let desk = desks[identifier] { return desk }
            let name = identifier.replacingOccurrences(of: "/", with: "_")
            let desk = TransferDesk(folder: root.appendingPathComponent(name, isDirectory: true)) { [events] in
                Task { @MainActor in events.finish(identifier) }
            }
            desk.attach(makeSession(identifier, desk))
            desks[identifier] = desk
            return desk
        }
    }

    /// Calls `completion` once, when all that the system tells the session with that identifier is dealt with.
    @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
        events.add(completion, for: identifier)
        _ = desk(identifier)
    }
}

/// What the app must call when the system's events are dealt with; each once.
@MainActor private final class SystemEvents {
    private var completions: [String: [() -> Void]] = [:]

    nonisolated init() {}

    func add(_ completion: @escaping () -> Void, for identifier: String) {
        completions[identifier, default: []].append(completion)
    }

    func finish(_ identifier: String) {
        for completion in completions.removeValue(forKey: identifier) ?? [] { completion() }
    }
}
