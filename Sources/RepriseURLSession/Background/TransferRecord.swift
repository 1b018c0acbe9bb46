import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Describes a background transfer to the process that receives its bytes: which bytes of which entry it fetches.
///
/// The system keeps it as the description of the task. It contains no URL and no field of the request.
struct TransferRecord: Codable, Hashable, Sendable {
    /// Differs for each transfer.
    let id: UUID
    /// Stands for the title of the download.
    let title: String
    /// Stands for the entry.
    let entry: String
    /// The requested bytes; `nil` for the whole.
    let range: Range<Int64>?
    /// The validator of the representation of which it is a part; `nil` for the whole.
    let validator: String?
    /// Its start, in seconds since 1970.
    let begun: Int64
    /// Stands for the process that began it.
    let process: UUID?
    /// The networks that it may use.
    let networks: TransferNetworks

    /// The form in which the system keeps it.
    var description: String { (try? JSONEncoder().encode(self)).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    init(id: UUID = UUID(), for ask: TransferAsk, range: Range<Int64>?, begun: Int64, by process: UUID? = nil) {
        (self.id, title, entry) = (id, ask.title, ask.entry)
        (self.range, validator, self.begun) = (range, range == nil ? nil : ask.validator, begun)
        (self.process, networks) = (process, ask.networks)
    }

    /// Reads a description; `nil` for that of a task of someone else.
    init?(description: String?) {
        guard let data = description?.data(using: .utf8),
            let record = try? JSONDecoder().decode(Self.self, from: data),
            record.range.map({ $0.lowerBound >= 0 && !$0.isEmpty }) ?? true
        else { return nil }
        self = record
    }

    /// Derives its request from one for all missing bytes.
    ///
    /// Its condition is that the file has not changed (RFC 9110 §13.1.1, §13.1.4). If-Range, which the engine sends,
    /// would have each transfer of a file that has changed bring the whole new one, and no program runs that could end
    /// it. An origin that knows no such condition sends a part, and its validator shows the change.
    func request(from request: URLRequest) -> URLRequest {
        var request = request
        guard let range, let validator else { return request }
        func set(_ value: String?, _ name: HTTPField.Name) {
            request.setValue(value, forHTTPHeaderField: name.rawName)
        }
        set(RangeField(.bounded(range)).description, .range)
        set(nil, .ifRange)
        set(validator, EntityTag(validator) == nil ? .ifUnmodifiedSince : .ifMatch)
        return request
    }

    /// Whether it is to bring bytes for `ask`, wherever they begin.
    func isOf(_ ask: TransferAsk) -> Bool {
        entry == ask.entry && (range == nil) == (ask.hole == nil) && validator == ask.validator
    }
}

/// The networks that a transfer may use.
struct TransferNetworks: Codable, Hashable, Sendable {
    /// Whether networks that the system considers expensive are allowed.
    var mayBeExpensive: Bool
    /// Whether networks in Low Data Mode are allowed.
    var mayBeConstrained: Bool

    init(_ policy: NetworkPolicy) {
        mayBeExpensive = policy == .any
        mayBeConstrained = policy == .any || policy == .inexpensive
    }

    /// Restricts `request` to these networks.
    func restrict(_ request: inout URLRequest) {
        #if canImport(Darwin)
            if !mayBeExpensive { request.allowsExpensiveNetworkAccess = false }
            if !mayBeConstrained { request.allowsConstrainedNetworkAccess = false }
        #endif
    }
}
