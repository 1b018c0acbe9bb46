import Foundation
import Primitives
import TestLimits
import Testing

@testable import Reprise

/// The sums of a stream's download, whose files arrive at the same time.
@Suite(.limit(minutes: 1)) struct StreamTallyTests {
    @Test("No sum is reported after a later one, however many files end at once") func order() {
        let reported = Mutex<[StreamProgress]>([])
        let arrived = Mutex(0)
        let tally = StreamTally(StreamProgress(files: 801, storedFiles: 1, storedBytes: 7)) { count, progress in
            arrived.withLock { $0 += count }
            if let progress { reported.withLock { $0.append(progress) } }
        }
        DispatchQueue.concurrentPerform(iterations: 8) { _ in
            for _ in 0..<100 {
                tally.add(bytes: 10, arrived: 10)
                tally.add(bytes: -3, files: 1)
            }
        }
        let all = reported.withLock { $0 }
        #expect(all.count == 1601)
        #expect(all.first == StreamProgress(files: 801, storedFiles: 1, storedBytes: 7))
        #expect(all.last == StreamProgress(files: 801, storedFiles: 801, storedBytes: 5607))
        #expect(all.last?.completeLength == 5607)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.storedFiles <= $1.storedFiles })
        #expect(arrived.withLock { $0 } == 8000)
    }
}
