import HTTPSemantics
import MediaTiming

/// How far ahead of players a file is fetched, as the configuration says for its host.
extension LiveGeneration {
    /// Bytes that are read before a file's tables say which others are needed.
    private static let firstBytes: Int64 = 64 << 10

    /// Looks it up at the first read by a player, which sends `request`.
    func settleReadAhead(for request: OriginRequest) {
        guard let rule = engine.configuration.readAhead, request.demand == .playing, takeReadAhead() else { return }
        let record = record
        // Players request the files of streams whole, and ahead.
        guard record.isMedia, record.role == nil else { return }
        switch rule(url.host.lowercased()) {
        case .asRequested: break
        case .bytes(let count): readAhead(.by(count))
        // Reading the tables takes further requests, whose responses must be joined to this one.
        case .seconds(let seconds): if isJoinable { measure(seconds, request: request) }
        case .toEnd:
            guard let length = record.completeLength, length <= min(store.entryLimit, store.quota.limit) else { return }
            readAhead(.whole)
        }
    }

    /// Finds out how many bytes `seconds` of playback are, and reads as many ahead.
    private func measure(_ seconds: Double, request: OriginRequest) {
        var request = request
        request.demand = .preload
        request.onInterim = nil
        let file = FileDownload(key: key, request: request, engine: engine)
        Task(priority: .userInitiated) { [self] in
            // What keeps the tables from being read keeps the player from the file, too, and is told there.
            guard let start = try? await Self.beginning(of: file, seconds: seconds) else { return }
            if start.basis != .exact {
                engine.reporter.tell(.preloadEstimated(key, reason: start.basis.reason(in: start.format)))
            }
            readAhead(.by(start.ranges.byteCount))
        }
    }

    private static func beginning(of file: FileDownload, seconds: Double) async throws -> MediaStart {
        let first = try await file.open(.bounded(0..<firstBytes))
        defer { first.cancel() }
        return try await WindowReader.start(of: file, first: first, seconds: seconds)
    }
}
