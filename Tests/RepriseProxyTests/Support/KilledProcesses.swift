import ByteRanges
import Foundation
import Reprise
import RepriseTesting
import TestLimits
import TestSupport
import Testing

/// Processes that download one stream, one after another, and are killed; what each kill costs.
///
/// The origin stops at the place where a process is to die, so that it cannot be over by then, however slow the machine
/// is: places are numbers of bytes that the origin has sent, not moments.
struct KilledProcesses {
    let origin: TestOrigin
    let directory: String
    /// The URL of the stream's playlist.
    let stream: String
    /// The lengths of the files that belong to the download, by path; a few of them may be missing.
    let lengths: [String: Int64]

    /// Longest part of a file that is recorded only as a whole.
    private static let chunk: Int64 = 64 << 10
    /// How many kills there were, and what they cost together.
    private(set) var kills = 0
    private(set) var lost: Int64 = 0
    private(set) var mostLost: Int64 = 0

    init(origin: TestOrigin, directory: String, stream: String, lengths: [String: Int64]) {
        (self.origin, self.directory, self.stream, self.lengths) = (origin, directory, stream, lengths)
    }

    // MARK: - Recorded bytes

    /// The recorded ranges, by path.
    private func recorded() throws -> [String: ByteRangeSet] {
        let inspector = try CacheInspector(directory: directory)
        let entries = try inspector.entries().map { ($0.url.target, try inspector.storedRanges(of: $0)) }
        return Dictionary(entries) { $0.union($1) }
    }

    /// Bytes of the download that are not recorded yet.
    func missing() throws -> Int64 {
        let recorded = try recorded()
        return lengths.reduce(0) { $0 + $1.value - (recorded[$1.key]?.byteCount ?? 0) }
    }

    /// Bytes that were sent and are not recorded, by path: they have to be sent again if the process dies now.
    private func unrecorded(_ sent: TestOrigin.Snapshot) throws -> [String: Int64] {
        let recorded = try recorded()
        var all: [String: Int64] = [:]
        for path in Set(sent.requests.map(\.path)) {
            let rest = sent[path].distinctBytesSent.subtracting(recorded[path] ?? ByteRangeSet())
            if !rest.isEmpty { all[path] = rest.byteCount }
        }
        return all
    }

    // MARK: - Kills

    /// Kills the process when the origin has sent `count` bytes to it.
    ///
    /// With `isRecorded`, everything was recorded a moment before that can be, and `count` bytes more were sent since.
    mutating func kill(
        _ start: () throws -> ChildProcess, after count: Int64, isRecorded: Bool, _ what: String
    ) async throws {
        let before = await origin.settledSnapshot()
        let atStake = try unrecorded(before).values.reduce(0, +)
        origin.allow(count)
        let process = try start()
        var bound = Int64.max
        await sent(count, since: before.bodyBytesSent, by: process)
        if isRecorded {
            // A second later nothing of what it was sent is at stake but the chunks of the files under way.
            try await eventually {
                if process.hasEnded { return true }
                return try await hasRecordedAllChunks(since: before.requestCount)
            }
            let mark = await origin.settledSnapshot()
            bound = try unrecorded(mark).values.reduce(0, +)
            origin.allow(count)
            await sent(count, since: mark.bodyBytesSent, by: process)
            bound += await origin.settledSnapshot().bodyBytesSent - mark.bodyBytesSent
        }
        process.send(SIGKILL)
        try await note(await process.outcome(), before: before, atStake: atStake, most: bound, what)
    }

    /// Runs a process that kills itself; the origin sends `count` bytes to it.
    mutating func killItself(
        _ start: () throws -> ChildProcess, after count: Int64, _ what: String
    ) async throws {
        let before = await origin.settledSnapshot()
        let atStake = try unrecorded(before).values.reduce(0, +)
        origin.allow(count)
        try await note(await start().outcome(), before: before, atStake: atStake, most: .max, what)
    }

    /// Waits until so many bytes more were sent, or the process has ended too early.
    private func sent(_ count: Int64, since start: Int64, by process: ChildProcess) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask { await origin.waitUntil { $0.bodyBytesSent >= start + count } }
            group.addTask { _ = await process.ended() }
            await group.next()
            group.cancelAll()
        }
    }

    /// Whether everything is recorded that can be of what was requested after the first `count` requests.
    ///
    /// What earlier processes have lost may not have been requested again yet.
    private func hasRecordedAllChunks(since count: Int) async throws -> Bool {
        let sent = await origin.settledSnapshot()
        let requests = sent.requests.dropFirst(count)
        let underWay = Set(requests.filter { $0.outcome == .underWay }.map(\.path))
        let requested = Set(requests.map(\.path))
        return try unrecorded(sent).filter { requested.contains($0.key) }
            .allSatisfy { underWay.contains($0.key) && $0.value < Self.chunk }
    }

    /// Expects that the process was killed, that it was sent nothing again that was recorded, and that its end costs no
    /// more than `most` bytes.
    private mutating func note(
        _ outcome: ChildProcess.Outcome, before: TestOrigin.Snapshot, atStake: Int64, most: Int64, _ what: String
    ) async throws {
        #expect(outcome.exit == .signal(SIGKILL), "\(what): \(outcome)")
        await origin.waitUntil { $0.openConnections == 0 }
        let after = await origin.settledSnapshot()
        let again = after.bytesSentMoreThanOnce - before.bytesSentMoreThanOnce
        #expect(again <= atStake, "\(what): \(again) bytes were sent again, \(atStake) had not been recorded")
        let rest = try unrecorded(after).values.reduce(0, +)
        #expect(rest <= most, "\(what): \(rest) bytes are not recorded, of at most \(most)")
        // Without what earlier processes have lost, and this one was not sent.
        let cost = rest - (atStake - again)
        kills += 1
        lost += cost
        mostLost = max(mostLost, cost)
    }

    /// Runs a process to its end; expects that it is sent nothing again that was recorded.
    func end(_ start: () throws -> ChildProcess) async throws {
        let before = await origin.settledSnapshot()
        let atStake = try unrecorded(before).values.reduce(0, +)
        origin.allow(nil)
        let outcome = try await start().outcome()
        #expect(outcome.exit == .status(0), "it ends whole: \(outcome)")
        let after = await origin.settledSnapshot()
        #expect(after.bytesSentMoreThanOnce - before.bytesSentMoreThanOnce <= atStake)
        #expect(after.bytesSentMoreThanOnce <= lost, "each byte was sent once, but for what kills cost")
    }
}
