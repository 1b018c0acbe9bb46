public import Reprise

/// What a person may do with a download.
public enum DownloadAction: Sendable, Hashable, CaseIterable {
    /// Stop it; its bytes stay stored.
    case pause
    /// Go on with one that is paused, waits or has failed.
    case resume
    /// Remove it and its bytes.
    case remove

    /// Its name, such as `Pause`.
    public var name: String {
        switch self {
        case .pause: "Pause"
        case .resume: "Resume"
        case .remove: "Remove"
        }
    }

    /// The name of a symbol for it in Apple's set, such as `pause.circle`.
    public var symbolName: String {
        switch self {
        case .pause: "pause.circle"
        case .resume: "play.circle"
        case .remove: "trash"
        }
    }
}

extension Downloads {
    /// Does `action` with a download.
    ///
    /// Throws ``RepriseError`` with code `storageUnavailable`, as `pause`, `resume` and `remove` do.
    public func perform(_ action: DownloadAction, on key: CacheKey) async throws {
        switch action {
        case .pause: try await pause(key)
        case .resume: try await resume(key)
        case .remove: try await remove(key)
        }
    }
}
