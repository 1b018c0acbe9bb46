import Foundation
import Primitives

/// The desks of this process, one for each identifier of a background session: of two sessions with one identifier the
/// system would tell only one what has come.
///
/// They stay until the process ends, as their sessions do.
final class BackgroundDesks: Sendable {
    static let shared = BackgroundDesks()

    private let desks = Mutex<[String: TransferDesk]>([:])

    /// The desk for `identifier`, with its session.
    func desk(_ identifier: String) -> TransferDesk {
        desks.withLock { desks in
            if let desk = desks[identifier] { return desk }
            let desk = TransferDesk(folder: Self.folder(identifier)) {
                Task { @MainActor in SystemEvents.shared.finish(identifier) }
            }
            #if canImport(Darwin)
                desk.attach(SystemSession(.makeBackground(identifier), delegate: desk))
            #endif
            desks[identifier] = desk
            return desk
        }
    }

    /// In the caches folder, or in the temporary one where there is none.
    private static func folder(_ identifier: String) -> URL {
        let caches = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
        let name = identifier.replacingOccurrences(of: "/", with: "_")
        return (caches ?? FileManager.default.temporaryDirectory)
            .appendingPathComponent("Reprise transfers", isDirectory: true)
            .appendingPathComponent(name, isDirectory: true)
    }
}

/// What the app must call when the system's events are dealt with; each once.
@MainActor final class SystemEvents {
    static let shared = SystemEvents()

    private var completions: [String: [() -> Void]] = [:]

    func add(_ completion: @escaping () -> Void, for identifier: String) {
        completions[identifier, default: []].append(completion)
    }

    func finish(_ identifier: String) {
        for completion in completions.removeValue(forKey: identifier) ?? [] { completion() }
    }
}
