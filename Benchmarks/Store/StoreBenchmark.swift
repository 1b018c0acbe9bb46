import Crypto
import Foundation
import HTTPSemantics
import HTTPTypes
import Reprise
import RepriseTesting

/// The cost of a store with many entries, and of encryption; prints Markdown tables.
///
///     swift run -c release StoreBenchmark [entries…]
///     swift run -c release StoreBenchmark --titles [titles [segments]]     # see ``ManyTitles``
///
/// Entries are segments of 1 to 8 KiB, so that 100,000 of them fit on the disk; the measurements depend on their
/// number, not on their size. A thousand of them make a title. Nothing is asserted.
@main
enum StoreBenchmark {
    static func main() async throws {
        if try await ManyTitles.run(Array(CommandLine.arguments.dropFirst())) { return }
        if CommandLine.arguments.dropFirst().first == sizeOption { return try await printSizes() }
        let counts = CommandLine.arguments.dropFirst().compactMap { Int($0) }
        print(
            "| entries | fill µs/entry | index MB written | transactions | open ms | open + first hit ms | hit µs |"
                + " index MB | RSS MB, opened | RSS MB, 1,000 hits later | titles ms | remove 10 % s |"
                + " slowest hit during removal ms |")
        print("|---|---|---|---|---|---|---|---|---|---|---|---|---|")
        for count in counts.isEmpty ? [1_000, 10_000, 100_000] : counts { try await scale(count) }
        print()
        print("| media | media MB | index bytes written / media % | transactions |")
        print("|---|---|---|---|")
        try await writes("one file of 1 GB", count: 1, length: 1_000_000_000)
        try await writes("1,000 segments of 1 MB", count: 1_000, length: 1_000_000)
        try await writes("1,000 segments of 1 MB, encrypted", count: 1_000, length: 1_000_000, isSealed: true)
        try await writes("200 MB under a limit of 50 MB", count: 1, length: 200_000_000, limit: 50_000_000)
        print()
        print("| reads of 4 MiB | MB/s | of plain |")
        print("|---|---|---|")
        let plain = try await reads(isSealed: false)
        let sealed = try await reads(isSealed: true)
        print("| plain, bytes read into memory | \(Int(plain)) | 1 |")
        print("| encrypted | \(Int(sealed)) | \(round(sealed / plain * 100) / 100) |")
        let openings = try await openings()
        print("| AES-256-GCM alone, 64 KiB at a time | \(Int(openings)) | \(round(openings / plain * 100) / 100) |")
    }

    static func configuration(isSealed: Bool = false, limit: Int64 = .max) -> MediaCache.Configuration {
        var configuration = MediaCache.Configuration()
        configuration.limit = limit
        configuration.minimumFree = 0
        configuration.generationPolicy = .immutable
        if isSealed, let key = KeyFile.key(hexadecimal: String(repeating: "5a", count: 32)) {
            configuration.encryption = CacheEncryption(key: key)
        }
        return configuration
    }

    private static func url(_ number: Int) -> String { "http://origin/segment/\(number)" }

    static func seconds(_ body: () async throws -> Void) async rethrows -> Double {
        let start = ContinuousClock.now
        try await body()
        return (ContinuousClock.now - start) / .seconds(1)
    }

    private static func read(_ cache: MediaCache, _ number: Int) async throws {
        try await hit(cache, url(number))
    }

    /// Reads as a player of the title that a thousand entries make.
    private static func play(_ cache: MediaCache, _ number: Int) async throws {
        var resource = try cache.resource(for: url(number))
        let first = try ResourceURL(url(number - number % 1_000))
        resource.titles = [TitleReference(key: CacheKey(first.description), url: first)]
        try await hit(resource)
    }

    // MARK: - Many entries

    private static func scale(_ count: Int) async throws {
        let directory = try TemporaryDirectory(prefix: "reprise-benchmark")
        defer { directory.remove() }
        let origin = PatternOrigin { 1_024 + Int64($0 % 8) * 1_000 }
        var cache = try await MediaCache.open(
            directory: directory.path, origin: origin, configuration: configuration())
        let before = writtenBytes
        let fill = try await seconds { for number in 0..<count { try await play(cache, number) } }
        let media = cache.storedBytes
        await cache.close()
        let written = Double(writtenBytes - before - media) / 1e6
        let transactions = Double(cache.transactionCount)
        let opening = try await seconds {
            cache = try await MediaCache.open(
                directory: directory.path, origin: origin, configuration: configuration())
        }
        let first = try await seconds { try await read(cache, count / 2) }
        let hits = try await seconds { for number in 0..<min(1_000, count) { try await read(cache, number) } }
        var titles: [Title] = []
        let listing = try await seconds { titles = try await cache.titles() }
        guard titles.count == (count + 999) / 1_000 else { throw CocoaError(.coderInvalidValue) }
        let keys = try await cache.entries().prefix(count / 10).map(\.key)
        let (removal, slowest) = try await removal(cache, Array(keys), count)
        let index = Double(cache.allocatedBytes.index) / 1e6
        await cache.close()
        let sizes = try sizesInProcessOfItsOwn(directory.path, count)
        let numbers = [
            fill / Double(count) * 1e6, written, transactions, opening * 1e3, (opening + first) * 1e3,
            hits / Double(min(1_000, count)) * 1e6, index, sizes[0], sizes[1], listing * 1e3,
            removal, slowest * 1e3,
        ]
        print("| \(count) | " + numbers.map { "\((($0 * 100).rounded()) / 100)" }.joined(separator: " | ") + " |")
    }

    /// How long removal takes, and the slowest of the hits during it.
    private static func removal(_ cache: MediaCache, _ keys: [CacheKey], _ count: Int) async throws -> (Double, Double)
    {
        let kept = (0..<count).map { url($0) }.filter { !Set(keys.map(\.text)).contains($0) }.prefix(50)
        let removal = Task { try await seconds { _ = try await cache.remove(keys) } }
        let reader = Task { () -> Double in
            var slowest = 0.0
            while true {
                for url in kept {
                    let start = ContinuousClock.now
                    do { try await hit(cache, url) } catch { return slowest }
                    slowest = max(slowest, (ContinuousClock.now - start) / .seconds(1))
                }
            }
        }
        let time = try await removal.value
        reader.cancel()
        return (time, await reader.value)
    }

    private static func hit(_ cache: MediaCache, _ url: String) async throws {
        try await hit(try cache.resource(for: url))
    }

    static func hit(_ resource: MediaResource) async throws {
        let read = try await resource.read()
        while let piece = try await read.next() { _ = try piece.bytes() }
    }

    // MARK: - Memory

    private static let sizeOption = "--sizes"

    /// The resident size of a process that has opened the cache, and after 1,000 hits; this process has filled it.
    private static func sizesInProcessOfItsOwn(_ directory: String, _ count: Int) throws -> [Double] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [sizeOption, directory, "\(count)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        let sizes = text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
        guard sizes.count == 2 else { throw CocoaError(.executableLoad) }
        return sizes
    }

    private static func printSizes() async throws {
        let arguments = CommandLine.arguments
        let count = Int(arguments[3]) ?? 0
        let cache = try await MediaCache.open(
            directory: arguments[2], origin: PatternOrigin { _ in 0 }, configuration: configuration())
        let opened = residentMegabytes("VmRSS")
        // The entries in the middle still exist; the most recently used ones were removed.
        for number in count / 2..<count / 2 + min(1_000, count / 4) { try await read(cache, number) }
        print(opened, residentMegabytes("VmRSS"))
        await cache.close()
    }

    /// A size of this process; Linux only.
    static func residentMegabytes(_ name: String) -> Double {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("\(name):") }
        return (line?.split(separator: " ").dropFirst().first.flatMap { Double($0) } ?? 0) / 1024
    }

    // MARK: - Writes

    private static func writes(
        _ name: String, count: Int, length: Int64, isSealed: Bool = false, limit: Int64 = .max
    ) async throws {
        let directory = try TemporaryDirectory(prefix: "reprise-benchmark")
        defer { directory.remove() }
        let cache = try await MediaCache.open(
            directory: directory.path, origin: PatternOrigin { _ in length },
            configuration: configuration(isSealed: isSealed, limit: limit))
        let before = writtenBytes
        for number in 0..<count {
            let read = try await cache.resource(for: url(number)).read()
            while try await read.next() != nil {}
        }
        await cache.close()
        let media = Double(length) * Double(count)
        let share = (Double(writtenBytes - before) - media) / media * 100
        print("| \(name) | \(Int(media / 1e6)) | \((share * 1000).rounded() / 1000) | \(cache.transactionCount) |")
    }

    /// Bytes that this process passed to write calls; Linux only.
    private static var writtenBytes: Int64 {
        let io = (try? String(contentsOfFile: "/proc/self/io", encoding: .utf8)) ?? ""
        let line = io.split(separator: "\n").first { $0.hasPrefix("wchar:") }
        return line?.split(separator: " ").last.flatMap { Int64($0) } ?? 0
    }

    // MARK: - Encryption

    private static func reads(isSealed: Bool) async throws -> Double {
        let directory = try TemporaryDirectory(prefix: "reprise-benchmark")
        defer { directory.remove() }
        let length: Int64 = 256 << 20
        let cache = try await MediaCache.open(
            directory: directory.path, origin: PatternOrigin { _ in length },
            configuration: configuration(isSealed: isSealed))
        let resource = try cache.resource(for: url(0))
        let filling = try await resource.read()
        while try await filling.next() != nil {}
        var random = SeededGenerator(seed: 1)
        var bytes: Int64 = 0
        let time = try await seconds {
            for _ in 0..<300 {
                let start = Int64.random(in: 0..<length - 4 << 20, using: &random)
                let read = try await resource.read(.bounded(start..<start + 4 << 20))
                while let piece = try await read.next() {
                    bytes += Int64(piece.count)
                    // Encrypted bytes are decrypted in memory by now.
                    if case .stored(let region) = piece { _ = try region.bytes() }
                }
            }
        }
        await cache.close()
        return Double(bytes) / time / 1e6
    }

    /// How fast a core decrypts sealed bytes in memory; no encrypted read can be faster.
    private static func openings() async throws -> Double {
        let key = SymmetricKey(size: .bits256)
        let boxes = try (0..<64).map { try AES.GCM.seal([UInt8](repeating: $0, count: 64 << 10), using: key) }
        let rounds = 200
        let time = try await seconds {
            for _ in 0..<rounds { for box in boxes { _ = try AES.GCM.open(box, using: key) } }
        }
        return Double(rounds * boxes.count * 64 << 10) / time / 1e6
    }
}

/// An origin in this process: pattern bytes, whole or in ranges.
private struct PatternOrigin: Origin {
    let length: @Sendable (Int) -> Int64

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        let number = Int(request.url.lastPathComponent) ?? 0
        let length = length(number)
        var head = HTTPResponse(status: .ok)
        head.headerFields[.eTag] = "\"1\""
        head.headerFields[.contentType] = "video/mp2t"
        head.headerFields[.acceptRanges] = "bytes"
        var range = 0..<length
        if let text = request.fields[.range], let spec = RangeField(text)?.specs.first,
            let wanted = spec.resolve(completeLength: length)
        {
            range = wanted
            head.status = .partialContent
            head.headerFields[.contentRange] = "bytes \(range.lowerBound)-\(range.upperBound - 1)/\(length)"
        }
        head.headerFields[.contentLength] = "\(range.count)"
        return OriginResponse(head: head, url: request.url, body: PatternBody(range))
    }
}

/// Sends the same 128 KiB repeatedly, so that the origin costs nothing.
private final class PatternBody: OriginBody {
    private struct Bytes: ByteChunk {
        let bytes: ArraySlice<UInt8>

        var count: Int { bytes.count }

        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try bytes.withUnsafeBytes(body)
        }
    }

    private static let bytes = TestPattern.bytes(in: 0..<128 << 10, seed: 1)
    private let rest: Rest

    private actor Rest {
        private var bytes: Int64

        init(_ bytes: Int64) { self.bytes = bytes }

        func take() -> Int {
            let count = min(bytes, Int64(PatternBody.bytes.count))
            bytes -= count
            return Int(count)
        }

        func end() { bytes = 0 }
    }

    init(_ range: Range<Int64>) { rest = Rest(range.upperBound - range.lowerBound) }

    func next() async throws -> (any ByteChunk)? {
        let count = await rest.take()
        return count == 0 ? nil : Bytes(bytes: Self.bytes[..<count])
    }

    func cancel() { Task { await rest.end() } }
}
