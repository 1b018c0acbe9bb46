import Reprise

/// Delivery directives in the query of a playlist's URL: what the server waits for, or may leave out (rfc8216bis
/// §6.2.5).
extension ResourceURL {
    /// Whether the origin may hold the request until the playlist has grown, or may answer with a delta update.
    var hasDeliveryDirectives: Bool {
        queryNames.contains { Self.directives.contains($0) }
    }

    /// The URL without parameters that clients of HLS add, by which a playlist is known.
    ///
    /// The other parameters keep their order and spelling.
    var withoutDirectives: ResourceURL {
        guard let question = target.firstIndex(of: "?"), target[question...].contains("_HLS_") else { return self }
        let kept = target[question...].dropFirst().split(separator: "&", omittingEmptySubsequences: false)
            .filter { !$0.hasPrefix("_HLS_") }
        let query = kept.isEmpty ? "" : "?" + kept.joined(separator: "&")
        return (try? ResourceURL("\(scheme.rawValue)://\(authority)\(target[..<question])\(query)")) ?? self
    }

    private var queryNames: [Substring] {
        guard let question = target.firstIndex(of: "?"), target[question...].contains("_HLS_") else { return [] }
        return target[question...].dropFirst().split(separator: "&").map { $0.prefix { $0 != "=" } }
    }

    private static let directives: Set<Substring> = ["_HLS_msn", "_HLS_part", "_HLS_skip"]
}
