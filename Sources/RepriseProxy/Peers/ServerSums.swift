import Foundation
import Reprise

/// What a server has done since it began, and the room that it uses, as `sums.json` says it to others.
package struct ServerSums: Codable, Sendable, Equatable {
    /// What the server is called.
    let name: String
    /// Another text in each process, so that a server that is asked under two addresses counts once.
    let instance: String
    let sinceStart: StatusReport.Counts
    /// Bytes that media and index occupy on its disk, and how many they may.
    let usedBytes, limitBytes: Int64

    /// Those of `service` now.
    init(of service: ProxyService) {
        let (cache, allocated) = (service.cache, service.cache.allocatedBytes)
        name = service.configuration.name
        instance = service.control.instance
        sinceStart = StatusReport.Counts(cache.statistics)
        (usedBytes, limitBytes) = (allocated.media + allocated.index, cache.limit)
    }

    /// Parses what another server says; `nil` if it is not what a server would say.
    package init?(json: [UInt8]) {
        guard let sums = try? JSONDecoder().decode(Self.self, from: Data(json)), sums.isPlausible else { return nil }
        self = sums
    }

    /// Names that fit into a table, and numbers that can be added and shown.
    private var isPlausible: Bool {
        // Who has fetched ahead has saved less than nothing.
        let numbers = sinceStart.all + [usedBytes, limitBytes]
        return [name, instance].allSatisfy { (1...64).contains($0.utf8.count) }
            && numbers.allSatisfy { $0.magnitude <= Self.largest }
    }

    /// What scripts of pages still count exactly; a thousand of it fit into 64 bits.
    private static let largest: UInt64 = 1 << 53
}
