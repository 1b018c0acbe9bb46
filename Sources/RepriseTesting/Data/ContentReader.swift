internal import NIOCore

/// Reads a representation for one response; keeps a file open while it exists.
final class ContentReader {
    private enum Source {
        case bytes([UInt8])
        case pattern(seed: UInt64, head: [UInt8])
        case file(NIOFileHandle)
    }

    let length: Int64
    private let source: Source

    /// Throws if a file cannot be opened or has no length.
    init(_ content: TestOrigin.Content) throws {
        switch content {
        case .bytes(let bytes):
            source = .bytes(bytes)
            length = Int64(bytes.count)
        case .pattern(let seed, let length):
            source = .pattern(seed: seed, head: [])
            self.length = length
        case .headedPattern(let head, let seed, let length):
            source = .pattern(seed: seed, head: Array(head.prefix(Int(length))))
            self.length = length
        case .file(let path):
            let handle = try NIOFileHandle(_deprecatedPath: path)
            guard let length = try handle.withUnsafeFileDescriptor(lengthOfFile) else {
                try handle.close()
                throw IOError(errnoCode: 29, reason: "\(path) has no length")
            }
            source = .file(handle)
            self.length = length
        }
    }

    deinit {
        if case .file(let handle) = source { try? handle.close() }
    }

    /// The bytes of a range, which must not reach over a multiple of ``length`` unless the content is a pattern.
    func read(_ range: Range<Int64>, allocator: ByteBufferAllocator) -> IOData {
        let range = offsets(of: range)
        let count = range.count
        switch source {
        case .bytes(let bytes):
            return .byteBuffer(allocator.buffer(bytes: bytes[Int(range.lowerBound)..<Int(range.upperBound)]))
        case .pattern(let seed, let head):
            var buffer = allocator.buffer(capacity: count)
            buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: count) { target in
                let target = UnsafeMutableRawBufferPointer(rebasing: target[..<count])
                TestPattern.fill(target, from: range.lowerBound, seed: seed)
                for offset in range.clamped(to: 0..<Int64(head.count)) {
                    target[Int(offset - range.lowerBound)] = head[Int(offset)]
                }
                return count
            }
            return .byteBuffer(buffer)
        case .file(let handle):
            let region = FileRegion(
                fileHandle: handle, readerIndex: Int(range.lowerBound), endIndex: Int(range.upperBound))
            return .fileRegion(region)
        }
    }

    /// The offsets within the representation of a range that may lie beyond its end.
    func offsets(of range: Range<Int64>) -> Range<Int64> {
        if case .pattern = source { return range }
        let start = range.lowerBound % length
        return start..<start + (range.upperBound - range.lowerBound)
    }

    /// The first offset after `position` at which repeated content begins again.
    func wrap(after position: Int64) -> Int64? {
        if case .pattern = source { return nil }
        return length > 0 ? (position / length + 1).multipliedReportingOverflow(by: length).partialValue : nil
    }
}
