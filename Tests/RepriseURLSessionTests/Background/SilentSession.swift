import Foundation
import Primitives

@testable import RepriseURLSession

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A session that transfers nothing by itself.
final class SilentSession: BackgroundSession {
    private let state = Mutex<(records: [TransferRecord], canceled: [Int])>(([], []))

    /// The transfers that were begun.
    var records: [TransferRecord] { state.withLock { $0.records } }
    var ranges: [Range<Int64>?] { records.map(\.range) }
    var canceled: [Int] { state.withLock { $0.canceled } }

    func start(_ request: URLRequest, description: String) -> Int {
        state.withLock { state in
            if let record = TransferRecord(description: description) { state.records.append(record) }
            return state.records.count
        }
    }

    func cancel(_ number: Int) { state.withLock { $0.canceled.append(number) } }

    func transfers() async -> [(number: Int, description: String?)] { [] }
}
