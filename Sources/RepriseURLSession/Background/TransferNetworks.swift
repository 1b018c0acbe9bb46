import Foundation
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The networks that a transfer may use.
struct TransferNetworks: Codable, Hashable, Sendable {
    /// Whether they may be ones that the system considers expensive.
    var mayBeExpensive: Bool
    /// Whether they may be ones for which the user turned on Low Data Mode.
    var mayBeConstrained: Bool

    /// Those of a policy.
    init(_ policy: NetworkPolicy) {
        mayBeExpensive = policy == .any
        mayBeConstrained = policy == .any || policy == .inexpensive
    }

    /// Keeps `request` off all others.
    func restrict(_ request: inout URLRequest) {
        #if canImport(Darwin)
            if !mayBeExpensive { request.allowsExpensiveNetworkAccess = false }
            if !mayBeConstrained { request.allowsConstrainedNetworkAccess = false }
        #endif
    }
}
