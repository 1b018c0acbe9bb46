import Reprise

/// Why a download waits or has failed and what helps, in the words of the command.
struct DownloadTrouble: Codable, Equatable, Sendable {
    /// What it waits for: `network`, `authorization`, `space`, `hours` or `playback`; `nil` if it has failed.
    let waitsFor: String?
    /// The name of the error.
    let code: String
    /// What happened.
    let reason: String
    /// What helps, or that nothing has to be done.
    let help: String

    /// `nil` if `download`, the one of `resource`, neither waits nor has failed.
    init?(_ download: Download, at resource: MediaResource) async {
        if download.yieldsToPlayback {
            self = .playback
            return
        }
        guard let error = download.state.error ?? download.lastError else { return nil }
        let told = Failure.reason(await Pin.reason(error, of: resource, isDownload: true))
        self.init(download.state, lastError: download.lastError, reason: told?.message ?? error.explanation)
    }

    /// It gives way to a player.
    static let playback = DownloadTrouble(
        waitsFor: "playback", code: "yields", reason: "A player waits for bytes of the same host, and goes first.",
        help: "It goes on by itself.")

    private init(waitsFor: String, code: String, reason: String, help: String) {
        (self.waitsFor, self.code, self.reason, self.help) = (waitsFor, code, reason, help)
    }

    /// `nil` if `download`, as an index has it, neither waited nor failed last.
    init?(_ download: Download) {
        self.init(download.state, lastError: download.lastError, reason: download.lastError?.explanation ?? "")
    }

    /// `nil` if a download of that state neither waits nor has failed; `reason` says why it does.
    ///
    /// One that is queued has `lastError`, if it did in an earlier process.
    init?(_ state: Download.State, lastError: RepriseError? = nil, reason: String) {
        let error: RepriseError
        switch state {
        case .waiting(let obstacle, let reason):
            error = reason
            (waitsFor, help) = Self.help(obstacle)
        case .failed(let reason):
            error = reason
            (waitsFor, help) = (nil, Self.help(reason) ?? "To try again: reprise downloads --resume URL")
        case .queued:
            guard let lastError else { return nil }
            error = lastError
            (waitsFor, help) = (nil, Self.help(lastError) ?? "It is tried again by the next command that fetches.")
        case .running, .paused, .done: return nil
        }
        (code, self.reason) = ("\(error.code)", reason)
    }

    /// What happened and what helps, for people; a reason that ends with a command to copy has a line of its own.
    var lines: [String] {
        let reason = reason.printable
        return reason.last?.isPunctuation == true ? ["\(reason) \(help)"] : [reason, help]
    }

    /// What helps where an origin wants a log-in.
    static let logIn = "Log in with --authorize-command, or with header-file in the section of the host."

    private static func help(_ obstacle: Download.Obstacle) -> (String, String) {
        switch obstacle {
        case .network: ("network", "It is tried again by itself.")
        case .authorization:
            (
                "authorization",
                "Start the server with --authorize-command, or try again: reprise downloads --resume URL"
            )
        case .space: ("space", "It goes on by itself when there is room.")
        case .schedule: ("hours", "To begin now: reprise downloads --resume URL")
        }
    }

    /// What helps against `error`, besides another attempt; `nil` if nothing is known.
    private static func help(_ error: RepriseError) -> String? {
        if let status = error.refusal?.head.status.code, [404, 410].contains(status) {
            return "The file is gone there. To remove the download: reprise remove URL"
        }
        if error.remedy == .logIn { return "\(logIn) To try again: reprise downloads --resume URL" }
        if error.obstacle == .offline { return "It is tried again then." }
        if error.code == .notDownloadable {
            return "To try again: reprise downloads --resume URL. To choose otherwise: reprise download URL with "
                + "--quality, --codec, --audio or --subtitles"
        }
        return nil
    }
}
