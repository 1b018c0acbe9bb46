import Foundation
import Primitives
import Reprise
import RepriseTesting
import TestLimits
import Testing

@testable import RepriseURLSession

@Suite("The background sessions of an app", .limit(minutes: 1))
struct BackgroundDesksTests {
    private let directory: TemporaryDirectory
    private let made = Log()
    private let clock = ManualClock()
    private let desks: BackgroundDesks

    private final class Log: Sendable {
        private let state = Mutex<[String]>([])
        var names: [String] { state.withLock { $0 } }
        func note(_ name: String) { state.withLock { $0.append(name) } }
    }

    init() throws {
        directory = try TemporaryDirectory()
        let cacheClock = CacheClock(clock) { Date(timeIntervalSince1970: 0) }
        desks = BackgroundDesks(URL(fileURLWithPath: directory.path), clock: cacheClock) { [made] identifier, _ in
            made.note(identifier)
            return SilentSession()
        }
    }

    @Test("two clients with one identifier share the session: the system would tell only one what has come")
    func oneIdentifierHasOneSession() {
        defer { directory.remove() }
        let (first, second, other) = (desks.desk("a"), desks.desk("a"), desks.desk("b"))
        #expect(first === second)
        #expect(first !== other)
        #expect(first.isInBackground)
        #expect(made.names == ["a", "b"])
    }

    @Test func theSystemIsToldOnceForEachOfItsCalls() async {
        defer { directory.remove() }
        let told = Log()
        await handleEvents(of: "a", noting: "a", in: told)
        await handleEvents(of: "b", noting: "b", in: told)
        // Launched for its events: a client is not needed to hear of them.
        #expect(made.names == ["a", "b"])
        let desk = desks.desk("a")
        desk.keepTransfers(running: [], titles: [])
        desk.allWasTold()
        await pass(TransferDesk.quietTime, sleepers: 4)
        await eventually { told.names.count >= 1 }
        #expect(told.names == ["a"])
        // The app was suspended in between, and is woken again.
        await handleEvents(of: "a", noting: "again", in: told)
        desk.allWasTold()
        await pass(TransferDesk.quietTime, sleepers: 6)
        await eventually { told.names.count >= 2 }
        #expect(told.names == ["a", "again"])
    }

    @Test("the system is told when its time is over, also where the session has told all before the system calls")
    func theSystemIsToldInTime() async {
        defer { directory.remove() }
        let told = Log()
        await handleEvents(of: "a", noting: "first", in: told)
        let desk = desks.desk("a")
        desk.keepTransfers(running: [], titles: [])
        desk.allWasTold()
        await pass(TransferDesk.quietTime, sleepers: 3)
        await eventually { told.names.count >= 1 }
        await handleEvents(of: "a", noting: "late", in: told)
        await pass(BackgroundDesks.longestTime - .milliseconds(1), sleepers: 3)
        #expect(told.names == ["first"])
        await pass(.milliseconds(1), sleepers: 1)
        await eventually { told.names.count >= 2 }
        #expect(told.names == ["first", "late"])
    }

    /// Lets time pass once so many wait for it.
    private func pass(_ time: Duration, sleepers: Int) async {
        await eventually { clock.sleeperCount >= sleepers }
        clock.advance(by: time)
    }

    @MainActor private func handleEvents(of identifier: String, noting name: String, in log: Log) {
        desks.handleEvents(of: identifier) { log.note(name) }
    }

    #if !canImport(Darwin)
        @MainActor @Test func withoutSuchSessionsNothingIsWaitedForAndNothingIsMade() {
            defer { directory.remove() }
            var isTold = false
            URLSessionOrigin.handleEvents(ofBackgroundSession: "media.example") { isTold = true }
            #expect(isTold)
            let client = URLSessionOrigin(backgroundDownloads: "media.example")
            #expect(!client.isInBackground)
            #expect(client.desk == nil)
        }
    #endif
}
