import Dispatch
import Foundation
import GRDB
import Primitives
import RepriseTesting
import TestLimits
import TestSupport
import Testing

@testable import Reprise

/// An index that is closed while others use it.
@Suite(.limit(minutes: 1)) struct ClosingIndexTests {
    @Test("reads that begin while it is closed get an error or their value")
    func readsWhileItIsClosed() throws {
        let directory = try TemporaryDirectory()
        let refused = Mutex(0)
        for round in 0..<40 {
            let database = IndexDatabase(.pool(try DatabasePool(path: "\(directory.path)/\(round)")))
            DispatchQueue.concurrentPerform(iterations: 4) { number in
                do {
                    for _ in 0..<50 {
                        #expect(try database.read { try Int.fetchOne($0, sql: "SELECT 1") } == 1)
                        if number == 0 { try database.close() }
                    }
                } catch {
                    #expect((error as? RepriseError)?.code == .closed)
                    refused.withLock { $0 += 1 }
                }
            }
        }
        // The one that closes it is refused what it reads next; others may have had all their values before.
        #expect(refused.withLock { $0 } >= 40)
    }

    @Test("the log is merged although a read was under way, which gets its value")
    func readDuringTheClosing() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path(of: "index")
        let database = IndexDatabase(.pool(try DatabasePool(path: path)))
        try await database.write { try $0.execute(sql: "CREATE TABLE t (v); INSERT INTO t VALUES (1)") }
        let (hasBegun, mayEnd) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let value = Mutex<Int?>(nil)
        let (readers, closers) = (DispatchGroup(), DispatchGroup())
        DispatchQueue.global().async(group: readers) {
            let read = try? database.read { database in
                // From here on the read sees the log as it is now.
                let read = try Int.fetchOne(database, sql: "SELECT v FROM t")
                hasBegun.signal()
                mayEnd.wait()
                return read
            }
            value.withLock { $0 = read ?? nil }
        }
        hasBegun.wait()
        try await database.write { try $0.execute(sql: "UPDATE t SET v = 2") }
        DispatchQueue.global().async(group: closers) { try? database.close() }
        while (try? await database.write { _ in }) != nil {}
        mayEnd.signal()
        closers.wait()
        readers.wait()
        #expect(value.withLock { $0 } == 1)
        #expect(try FileManager.default.attributesOfItem(atPath: path + "-wal")[.size] as? Int == 0)
    }

    @Test func writesAfterItIsClosedGetAnError() async throws {
        let directory = try TemporaryDirectory()
        let index = Index(IndexDatabase(.pool(try DatabasePool(path: "\(directory.path)/index"))))
        try index.database.close()
        let error = await #expect(throws: RepriseError.self) { try await index.database.record(limit: 1) }
        #expect(error?.code == .closed)
        #expect(throws: RepriseError.self) { try index.entries.usage() }
    }
}
