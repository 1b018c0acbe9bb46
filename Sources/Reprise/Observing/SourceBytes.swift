/// Bytes given to readers, by their source.
package struct SourceBytes: Sendable, Equatable {
    /// Bytes that were on disk.
    package var store: Int64 = 0
    /// Bytes that another reader's fetch brought.
    package var joined: Int64 = 0
    /// Bytes that the reader's own fetch brought.
    package var origin: Int64 = 0

    package init() {}

    /// Bytes from `source`.
    package subscript(source: PieceSource) -> Int64 {
        get {
            switch source {
            case .store: store
            case .joined: joined
            case .origin: origin
            }
        }
        set {
            switch source {
            case .store: store = newValue
            case .joined: joined = newValue
            case .origin: origin = newValue
            }
        }
    }

    /// Bytes from all sources.
    package var total: Int64 { store + joined + origin }

    /// Adds `right` to `left`.
    package static func += (left: inout SourceBytes, right: SourceBytes) {
        for source in PieceSource.allCases { left[source] += right[source] }
    }
}
