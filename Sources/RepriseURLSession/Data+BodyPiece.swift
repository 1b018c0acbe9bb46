package import Foundation
import Reprise

extension Data: BodyPiece {
    package var byteCount: Int { count }

    package func copied(capacity: Int) -> Data {
        var copy = Data(capacity: Swift.max(capacity, count))
        copy.append(contentsOf: self)
        return copy
    }

    package mutating func removeFirst(_ count: Int) -> Data {
        defer { self = dropFirst(count) }
        return prefix(count)
    }
}
