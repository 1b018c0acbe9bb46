import Foundation
import Primitives
import Reprise

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
    private let clock: CacheClock
    private let desks = Mutex<[String: TransferDesk]>([:])
    private let events = SystemEvents()
    /// Longest time after the system's call: it gives a program about 30 s.
    static let longestTime = Duration.seconds(25)

    /// Creates none yet; their folders will lie in `root`.
    init(
        _ root: URL, clock: CacheClock = .system,
        makeSession: @escaping @Sendable (String, TransferDesk) -> any BackgroundSession
    ) {
        (self.root, self.clock, self.makeSession) = (root, clock, makeSession)
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
            let folder = root.appendingPathComponent(name, isDirectory: true)
            let desk = TransferDesk(folder: folder, clock: clock) { [events] in
                Task { @MainActor in events.finish(identifier) }
            }
            desk.attach(makeSession(identifier, desk))
            desks[identifier] = desk
            return desk
        }
    }

    /// Calls `completion` once, when all that the system tells the session with that identifier is dealt with.
    ///
    /// Or when the time for it is over: the session may have told all before the system calls the app.
    @MainActor func handleEvents(of identifier: String, completion: @escaping () -> Void) {
        let number = events.add(completion, for: identifier)
        Task { @MainActor [events, clock] in
            try? await clock.awake.sleep(Self.longestTime)
            events.finish(number)
        }
        _ = desk(identifier)
    }
}

/// What the app must call when the system's events are dealt with; each once.
@MainActor private final class SystemEvents {
    private var calls: [Int: (identifier: String, completion: () -> Void)] = [:]
    private var lastCall = 0

    nonisolated init() {}

    func add(_ completion: @escaping () -> Void, for identifier: String) -> Int {
        lastCall += 1
        calls[lastCall] = (identifier, completion)
        return lastCall
    }

    func finish(_ identifier: String) {
        for number in calls.filter({ $0.value.identifier == identifier }).keys.sorted() { finish(number) }
    }

    func finish(_ number: Int) { calls.removeValue(forKey: number)?.completion() }
}
