import Foundation
public import Reprise

/// What a row of a list of downloads shows: a name, how far it is, in words and as a fraction, and what may be done.
///
/// Needs no SwiftUI, so that other views can show it, too. The words are English.
public struct DownloadStatus: Sendable, Equatable {
    /// The name given here or to the download, or one made from the URL's path, or its host.
    public let name: String
    /// The stored fraction, 0 to 1; `nil` while it is not known how much there is.
    public let fraction: Double?
    /// The fraction that a progress view shows; `nil`, for activity without an end, only while it runs.
    let shownFraction: Double?
    /// What it does and how far it is, such as `12.3 MB of 40.0 MB, 2.10 MB/s`.
    public let words: String
    /// What may be done with it now, in the order of buttons.
    public let actions: [DownloadAction]

    /// Creates the status of `download`, as `name` if there is one.
    ///
    /// A URL's query is never part of a name, because it may contain a signature or a token.
    public init(_ download: Download, name: String? = nil) {
        let files = download.files.map { Amount.files($0.stored, of: $0.all, bytes: download.storedBytes) }
        self.init(
            name: name ?? download.name ?? Self.name(of: download.url.description), state: download.state,
            amount: files ?? .bytes(download.storedBytes, of: download.completeLength), fraction: download.fraction,
            bytesPerSecond: download.bytesPerSecond)
    }

    /// How much of a download there is.
    enum Amount {
        case bytes(Int64, of: Int64?)
        /// Of a stream, whose bytes are not known before all are stored.
        case files(Int, of: Int, bytes: Int64)
    }

    init(name: String, state: Download.State, amount: Amount, fraction: Double, bytesPerSecond: Double?) {
        self.name = name
        let known = amount.isKnown || fraction == 1 ? fraction : nil
        self.fraction = known
        shownFraction = if case .running = state { known } else { known ?? 0 }
        words = Self.words(for: state, amount: amount, bytesPerSecond: bytesPerSecond)
        actions =
            switch state {
            case .queued, .running: [.pause, .remove]
            case .waiting(.schedule, _): [.pause, .remove]
            case .waiting, .paused, .failed: [.resume, .remove]
            case .done: [.remove]
            }
    }

    private static func words(for state: Download.State, amount: Amount, bytesPerSecond: Double?) -> String {
        switch state {
        case .queued: joined("Waiting for its turn", amount.words)
        case .running: joined(amount.words ?? "Starting", bytesPerSecond.map(rate))
        case .waiting(let obstacle, _): joined(words(for: obstacle), amount.words)
        case .paused: joined("Paused", amount.words)
        case .done: joined("Stored", ByteText.decimal(amount.storedBytes))
        case .failed(let error): "Failed: \(error.message)"
        }
    }

    private static func words(for obstacle: Download.Obstacle) -> String {
        switch obstacle {
        case .network: "Waiting for the network"
        case .authorization: "Waiting for a log-in"
        case .space: "Waiting for room"
        case .schedule: "Waiting for the hours of downloads"
        }
    }

    private static func rate(_ bytesPerSecond: Double) -> String {
        "\(ByteText.decimal(Int64(min(max(bytesPerSecond, 0), 1e18))))/s"
    }

    private static func joined(_ first: String, _ second: String?) -> String {
        second.map { "\(first), \($0)" } ?? first
    }

    /// A name from the path of `url`, decoded; its host if there is no path.
    static func name(of url: String) -> String {
        let name = TitleName.path(of: url)
        return name.removingPercentEncoding ?? name
    }
}

extension DownloadStatus.Amount {
    /// Whether it is known how much there is.
    fileprivate var isKnown: Bool {
        switch self {
        case .bytes(_, let all): all != nil
        case .files: true
        }
    }

    fileprivate var storedBytes: Int64 {
        switch self {
        case .bytes(let stored, _), .files(_, _, let stored): stored
        }
    }

    /// How much is stored of how much; `nil` if nothing is known and nothing is stored.
    fileprivate var words: String? {
        switch self {
        case .bytes(let stored, let all?): "\(ByteText.decimal(stored)) of \(ByteText.decimal(all))"
        case .bytes(0, nil): nil
        case .bytes(let stored, nil): ByteText.decimal(stored)
        case .files(let stored, let all, let bytes): "\(stored) of \(all) files, \(ByteText.decimal(bytes))"
        }
    }
}
