import Foundation
import HTTPSemantics
import HTTPTypes
import Primitives

/// Answers requests from a complete local file, as an origin that has the file would.
struct FileOrigin: Origin {
    private let path: String
    private let file: any OpenFile
    private let fields: HTTPFields
    /// Length of the file in bytes, when it was opened.
    let length: Int64

    /// Opens `file`; `fields` are those of its responses.
    ///
    /// Blocks. Throws ``RepriseError``: `invalidArgument` for what is no regular file, is empty or cannot be read.
    init(_ file: URL, fields: HTTPFields) throws(RepriseError) {
        guard file.isFileURL else { throw RepriseError(.invalidArgument, "Only a file URL can be imported.") }
        path = file.path
        self.fields = fields.ofFile
        let opened: (file: any OpenFile, length: Int64)?
        do throws(SystemError) { opened = try Self.open(path) } catch {
            throw RepriseError(.invalidArgument, "\(file.path) cannot be read.", cause: error)
        }
        guard let opened else {
            throw RepriseError(.invalidArgument, "\(file.path) is not a regular file.")
        }
        (self.file, length) = opened
        guard length > 0 else { throw RepriseError(.invalidArgument, "\(file.path) is empty.") }
    }

    /// `nil` for what is no regular file.
    private static func open(_ path: String) throws(SystemError) -> (file: any OpenFile, length: Int64)? {
        let file = try SystemFileSystem.open(foreign: path)
        let status = try file.status()
        return status.isRegular ? (file, status.size) : nil
    }

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        var head = HTTPResponse(status: .ok, headerFields: fields)
        var range = 0..<length
        if let field = request.fields[.range].flatMap({ RangeField($0) }),
            let part = field.single?.resolve(completeLength: length)
        {
            head.status = .partialContent
            head.headerFields[.contentRange] = "bytes \(part.lowerBound)-\(part.upperBound - 1)/\(length)"
            range = part
        }
        head.headerFields[.acceptRanges] = "bytes"
        head.headerFields[.contentLength] = "\(range.upperBound - range.lowerBound)"
        return OriginResponse(head: head, url: request.url, body: Body(path: path, file: file, range: range))
    }

    /// The bytes of a range, read as they are pulled.
    private final class Body: OriginBody {
        /// Bytes per piece: few calls, and little memory.
        private static let pieceLength: Int64 = 256 << 10

        private let path: String
        private let file: any OpenFile
        private let rest: Mutex<Range<Int64>>

        init(path: String, file: any OpenFile, range: Range<Int64>) {
            self.path = path
            self.file = file
            rest = Mutex(range)
        }

        func next() async throws -> (any ByteChunk)? {
            try Task.checkCancellation()
            let piece = rest.withLock { rest in
                let end = min(rest.upperBound, rest.lowerBound + Self.pieceLength)
                defer { rest = end..<rest.upperBound }
                return rest.lowerBound..<end
            }
            guard !piece.isEmpty else { return nil }
            var failure: SystemError?
            let bytes = [UInt8](unsafeUninitializedCapacity: Int(piece.upperBound - piece.lowerBound)) {
                buffer, count in
                do throws(SystemError) {
                    while count < buffer.count {
                        let free = UnsafeMutableRawBufferPointer(
                            rebasing: UnsafeMutableRawBufferPointer(buffer)[count...])
                        let got = try file.read(into: free, at: piece.lowerBound + Int64(count))
                        if got == 0 { break }
                        count += got
                    }
                } catch { failure = error }
            }
            if let failure { throw RepriseError(.storageUnavailable, "\(path) cannot be read.", cause: failure) }
            guard bytes.count == piece.upperBound - piece.lowerBound else {
                throw RepriseError(
                    .storageUnavailable, "\(path) became shorter while it was imported.", range: piece)
            }
            return bytes
        }

        func cancel() { rest.withLock { $0 = $0.upperBound..<$0.upperBound } }
    }
}

extension HTTPFields {
    /// Those that describe a representation: neither one message, one client nor one request.
    fileprivate var ofFile: HTTPFields {
        let dropped: Set<String> = [
            "age", "content-length", "content-range", "set-cookie", "set-cookie2", "vary",
        ]
        return endToEnd.filter { !dropped.contains($0.name.canonicalName) }
    }
}
