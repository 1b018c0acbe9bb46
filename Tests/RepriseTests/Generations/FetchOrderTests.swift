import Foundation
import Primitives
import TestLimits
import Testing

@testable import Reprise

/// Readers of every class, seeks, fetches that fail, pauses and reading ahead, in any order of steps.
///
/// `REPRISE_ORDER_WORLDS` tries more of them, and `REPRISE_ORDER_SEED` (decimal) repeats one.
@Suite(.limit(minutes: 2)) struct FetchOrderTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let worlds = environment["REPRISE_ORDER_WORLDS"].flatMap { UInt64($0) } ?? 10_000
    private static let first = environment["REPRISE_ORDER_SEED"].flatMap { UInt64($0) } ?? 1

    /// Returns the first fault, and the seed of its world.
    private static func fault(in worlds: UInt64, order: FetchWorld.Order) async throws -> String? {
        let isFound = Mutex(false)
        return try await withThrowingTaskGroup(of: String?.self) { group in
            let parts = UInt64(4)
            for part in 0..<parts {
                group.addTask {
                    for seed in stride(from: first + part, to: first + worlds, by: Int(parts)) {
                        if isFound.withLock({ $0 }) { return nil }
                        // Other tests need a thread, too.
                        await Task.yield()
                        var world = try FetchWorld(seed: seed, order: order)
                        do { try world.run() } catch {
                            isFound.withLock { $0 = true }
                            return "REPRISE_ORDER_SEED=\(seed): \(error)\n\(world.log.joined(separator: "\n"))"
                        }
                    }
                    return nil
                }
            }
            return try await group.reduce(nil) { $0 ?? $1 }
        }
    }

    @Test func aReaderWaitsOnlyForAFetchThatCanMove() async throws {
        let fault = try await Self.fault(in: Self.worlds, order: .asDecided)
        #expect(fault == nil)
    }

    @Test func ifDecisionsWereCarriedOutInAnyOrderAReaderWouldWaitForEver() async throws {
        let fault = try await Self.fault(in: 2_000, order: .any)
        #expect(fault != nil)
    }

    @Test func aFetchThatWasCanceledBeforeItStartsDoesNotRunAndItsReadersLookAgain() throws {
        var state = try FetchWorld.state()
        let (tasks, isAwake) = (NotedTasks(), Mutex(false))
        let reader = state.schedule.addReader(0, to: nil)
        let decided = state.schedule.next(reader, joinDistance: 0).1
        state.park(reader, at: .zero) { isAwake.withLock { $0 = true } }
        let fetch = try #require(state.schedule.fetches.keys.first)
        _ = state.schedule.cancel(fetch)
        state.carryOut([.cancel(fetch)] + decided, with: tasks, at: .zero)
        let effects = state.settle(with: tasks, at: .zero)
        #expect(tasks.take().begun.isEmpty)
        #expect(state.schedule.fetches.isEmpty)
        for effect in effects { effect.perform() }
        #expect(isAwake.withLock { $0 })
    }
}
