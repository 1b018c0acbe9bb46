import HTTPSemantics
import MediaTiming

/// Brings a ``MediaTimer`` the bytes that it must see, from one read as long as they follow one another.
struct WindowReader {
    private let file: FileDownload
    private let first: MediaRead
    /// `nil` behind the end of the file.
    private var read: MediaRead?
    private let generation: String
    /// Bytes that were read and not yet asked for, and where they stand.
    private var rest: [UInt8] = []
    private var position: Int64

    /// Up to so many bytes are read over instead of asking the origin again.
    private static let longestSkip: Int64 = 64 << 10
    /// More seconds than any file has.
    private static let mostSeconds = 1e9

    private init(_ file: FileDownload, first: MediaRead) {
        (self.file, self.first, read, position) = (file, first, first, first.start)
        generation = first.information.generation
    }

    /// The bytes that the first seconds of `file` need; `first` is a read of its first bytes, which the caller cancels.
    ///
    /// Throws ``RepriseError`` with code `validatorChanged` if the representation changes on the way.
    static func start(of file: FileDownload, first: MediaRead, seconds: Double) async throws -> MediaStart {
        var timer = MediaTimer(
            first: .seconds(min(seconds, mostSeconds)), completeLength: first.information.completeLength)
        var reader = WindowReader(file, first: first)
        defer { reader.close() }
        while true {
            if file.comesInOrder { timer.comesInOrder = true }
            switch timer.next() {
            case .done(let start): return start
            case .needs(let need) where need.isOptional:
                if let bytes = try await reader.optionalBytes(of: need.window) {
                    timer.receive(bytes, at: need.window.lowerBound)
                } else {
                    timer.comesInOrder = true
                }
            case .needs(let need): timer.receive(try await reader.bytes(of: need), at: need.window.lowerBound)
            }
        }
    }

    /// As ``bytes(of:)``; `nil` if the origin turns out to ignore ranges.
    private func optionalBytes(of window: Range<Int64>) async throws -> [UInt8]? {
        let file = file.withoutRanges(.fail)
        do {
            guard let read = try await open(window, of: file) else { return [] }
            defer { read.cancel() }
            return try await file.bytes(of: read, upTo: Int64(window.count)) { _ in }
        } catch let error as RepriseError where error.code == .rangesUnsupported {
            return nil
        }
    }

    /// The bytes of the window; fewer at the end of the file.
    private mutating func bytes(of need: MediaNeed) async throws -> [UInt8] {
        let window = need.window
        let end = position + Int64(rest.count)
        let isAhead = window.lowerBound >= position && window.lowerBound <= end + Self.longestSkip
        if !isAhead || window.upperBound > read?.end ?? .max {
            close()
            (rest, position) = ([], window.lowerBound)
            read = try await open(window.lowerBound..<need.extent.upperBound, of: file)
        }
        while let read, position + Int64(rest.count) < window.upperBound,
            let more = try await file.nextBytes(of: read)
        {
            rest += more
            drop(before: window.lowerBound)
        }
        drop(before: window.lowerBound)
        defer { drop(before: window.upperBound) }
        return Array(rest.prefix(window.count))
    }

    private mutating func drop(before place: Int64) {
        let count = min(max(0, place - position), Int64(rest.count))
        rest.removeFirst(Int(count))
        position += count
    }

    /// A read of `range`; `nil` behind the end of the file.
    private func open(_ range: Range<Int64>, of file: FileDownload) async throws -> MediaRead? {
        let read: MediaRead
        do { read = try await file.open(.bounded(range)) } catch let error as RepriseError
            where error.code == .rangeNotSatisfiable
        {
            return nil
        }
        guard read.information.generation == generation else {
            throw RepriseError(.validatorChanged, "\(file.request.url.redacted) changed while it was preloaded.")
        }
        return read
    }

    /// Ends the present read, unless it is the caller's.
    private mutating func close() {
        if read !== first { read?.cancel() }
        read = nil
    }
}

extension MediaStart.Basis {
    /// Why the bytes are no more than an estimate, for events.
    func reason(in format: MediaFormat) -> String {
        switch self {
        case .exact: "\(format.rawValue): its tables and frames tell the bytes."
        case .coarseTable: "\(format.rawValue): its table has few places."
        case .average: "\(format.rawValue): the bit rate so far, with a margin, because it has no table."
        case .proportion: "\(format.rawValue): length × seconds ÷ duration, with a margin, because it has no table."
        case .firstBytes: "\(format == .unknown ? "The format is unknown" : format.rawValue): the first MiB."
        }
    }
}
