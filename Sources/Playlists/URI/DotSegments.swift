/// The segments `.` and `..` of a path.
///
/// Their percent-encoded forms are ordinary names (RFC 3986 §6.2.2.2).
enum DotSegments {
    /// RFC 3986 §5.2.4, in one pass.
    ///
    /// Only a path that begins with a slash is a path of directories; others stay as they are.
    static func removed(from path: ArraySlice<UInt8>) -> [UInt8] {
        guard path.first == slash, mayOccur(in: path) else { return Array(path) }
        var output: [UInt8] = []
        output.reserveCapacity(path.count)
        forEachSegment(path) { segment, isLast in
            switch Kind(segment) {
            case .current: if isLast { output.append(slash) }
            case .parent:
                while let last = output.popLast(), last != slash {}
                if isLast { output.append(slash) }
            case .name: output += segment
            }
        }
        return output
    }

    /// Whether a segment begins with a dot.
    static func mayOccur(in path: ArraySlice<UInt8>) -> Bool {
        path.withUnsafeBufferPointer { path in
            guard let first = path.first else { return false }
            if first == dot { return true }
            var previous = first
            for byte in path.dropFirst() {
                if byte == dot, previous == slash { return true }
                previous = byte
            }
            return false
        }
    }

    /// How many directories above its start the path leads at most.
    static func climb(_ path: ArraySlice<UInt8>) -> Int {
        var depth = 0
        var highest = 0
        forEachSegment(path) { segment, isLast in
            switch Kind(segment) {
            case .current: break
            case .parent: depth -= 1
            case .name: if !isLast { depth += 1 }
            }
            highest = max(highest, -depth)
        }
        return highest
    }

    private static let slash = UInt8(ascii: "/")
    private static let dot = UInt8(ascii: ".")

    private enum Kind {
        case current, parent, name

        init(_ segment: ArraySlice<UInt8>) {
            let name = segment.first == slash ? segment.dropFirst() : segment
            guard name.allSatisfy({ $0 == dot }) else {
                self = .name
                return
            }
            switch name.count {
            case 1: self = .current
            case 2: self = .parent
            default: self = .name
            }
        }
    }

    /// Calls `body` with each segment and the slash before it.
    private static func forEachSegment(_ path: ArraySlice<UInt8>, _ body: (ArraySlice<UInt8>, Bool) -> Void) {
        var start = path.startIndex
        while start < path.endIndex {
            let end = path[(start + 1)...].firstIndex(of: slash) ?? path.endIndex
            body(path[start..<end], end == path.endIndex)
            start = end
        }
    }
}
