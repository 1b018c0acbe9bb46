import Foundation
import GRDB
import HTTPTypes
import Reprise
import RepriseStreams
import RepriseTesting

/// A cache with many stored streams: how long it takes to open it and to serve a first segment, and what the calls cost
/// that look at all titles; prints Markdown tables.
///
///     swift run -c release StoreBenchmark --titles [TITLES [SEGMENTS]]
///
/// One title is played. Its rows in the index and its files are copied for the others, under keys of their own, so that
/// every title has a playlist and segments that can be served. A segment has a kilobyte.
struct ManyTitles {
    static let option = "--titles"
    private static let stepOption = "--title-step"
    private static let tag = "series"

    let directory: String
    let titles: Int
    let segments: Int

    /// Runs what `arguments` say; false if they are not for this benchmark.
    static func run(_ arguments: [String]) async throws -> Bool {
        switch arguments.first {
        case option:
            let numbers = arguments.dropFirst().compactMap { Int($0) }
            let directory = try TemporaryDirectory(prefix: "reprise-titles")
            defer { directory.remove() }
            try await ManyTitles(
                directory: directory.path, titles: numbers.first ?? 1_000, segments: numbers.last ?? 1_000
            ).measure()
        case stepOption where arguments.count == 5:
            guard let titles = Int(arguments[3]), let segments = Int(arguments[4]) else { return false }
            try await ManyTitles(directory: arguments[2], titles: titles, segments: segments).step(arguments[1])
        default: return false
        }
        return true
    }

    private func measure() async throws {
        print("\(titles) titles of \(segments) segments, made in \(Self.text(try run("make"))) s\n")
        print("| opened | open ms | open + first hit ms: median | slowest | RSS MB, opened | 1,000 hits later |")
        print("|---|---|---|---|---|---|")
        for (name, isKilled) in [("after it was closed", false), ("after its process was killed", true)] {
            let rounds = try (0..<7).map { _ in
                if isKilled { _ = try run("kill") }
                return try run("hit")
            }
            guard rounds.allSatisfy({ $0.count == 4 }) else { throw BenchmarkError(text: "a step failed") }
            func sorted(_ column: Int) -> [Double] { rounds.map { $0[column] }.sorted() }
            let numbers = [sorted(0)[3], sorted(1)[3], sorted(1)[6], sorted(2)[3], sorted(3)[3]]
            print("| \(name) | \(Self.text(numbers)) |")
        }
        print("\n| what looks at all titles | ms | RSS MB at its highest |")
        print("|---|---|---|")
        for (name, step) in [
            ("`titles()`", "titles"), ("`titles(complete:)`", "complete"), ("naming 10 titles with a tag", "tag"),
            ("a limit for the tag of all titles", "limit"), ("one more segment of that tag", "grow"),
            ("100 more segments of it", "grow-more"),
        ] { print("| \(name) | \(Self.text(try run(step))) |") }
    }

    private static func text(_ numbers: [Double]) -> String {
        numbers.map { "\((($0 * 10).rounded()) / 10)" }.joined(separator: " | ")
    }

    // MARK: - Steps, each in a process of its own

    private func run(_ step: String) throws -> [Double] {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = [Self.stepOption, step, directory, "\(titles)", "\(segments)"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return text.split(whereSeparator: \.isWhitespace).compactMap { Double($0) }
    }

    private func step(_ name: String) async throws {
        if name == "make" {
            try await makeFirst()
            return print(try await StoreBenchmark.seconds { try copy() })
        }
        let start = ContinuousClock.now
        let cache = try await open(isAway: name == "hit")
        let opened = ContinuousClock.now - start
        if name == "kill" { kill(getpid(), SIGKILL) }
        if name == "hit" {
            try await play(cache, title: titles / 2, segment: segments / 2)
            let hit = ContinuousClock.now - start
            let size = StoreBenchmark.residentMegabytes("VmRSS")
            for number in 0..<1_000 {
                try await play(cache, title: number % titles, segment: (number * 7) % segments)
            }
            let numbers = [opened / .milliseconds(1), hit / .milliseconds(1), size]
            for number in numbers { print(number) }
            print(StoreBenchmark.residentMegabytes("VmRSS"))
            return await cache.close()
        }
        await cache.settleTags()
        let time = try await StoreBenchmark.seconds { try await work(name, cache) }
        print(time * 1e3, StoreBenchmark.residentMegabytes("VmHWM"))
        await cache.close()
    }

    private func work(_ name: String, _ cache: MediaCache) async throws {
        switch name {
        case "titles": try Self.expect(titles, try await cache.titles())
        case "complete": try Self.expect(titles, try await cache.titles(complete: true))
        case "tag":
            for title in 0..<10 {
                try await cache.nameTitle(
                    of: try cache.resource(for: list(title)), name: "\(title)", tag: Self.tag)
            }
        case "limit":
            try tagAll()
            try await cache.setLimit(1 << 50, forTag: Self.tag)
        case "grow": try await grow(cache, by: 1)
        case "grow-more": try await grow(cache, by: 100)
        default: throw BenchmarkError(text: "there is no step \(name)")
        }
    }

    private static func expect(_ count: Int, _ titles: [Title]) throws {
        guard titles.count == count else { throw BenchmarkError(text: "\(titles.count) titles instead of \(count)") }
    }

    /// Stores segments that are new, one after another, each recorded, and the tag looked at.
    private func grow(_ cache: MediaCache, by count: Int) async throws {
        for number in segments..<segments + count {
            try await play(cache, title: titles / 2, segment: number + (count > 1 ? 1 : 0))
            await cache.settleTags()
        }
    }

    // MARK: - The cache

    private func list(_ title: Int) -> String { "http://origin/\(Self.name(title))/index.m3u8" }

    private func open(isAway: Bool = false) async throws -> MediaCache {
        try await MediaCache.open(
            directory: directory, origin: TitleOrigin(segments: segments, isAway: isAway),
            configuration: StoreBenchmark.configuration())
    }

    private func play(_ cache: MediaCache, title: Int, segment: Int?) async throws {
        let first = try ResourceURL(list(title))
        let url = segment.map { "http://origin/\(Self.name(title))/\($0).ts" } ?? first.description
        var resource = try cache.resource(for: url)
        resource.titles = [TitleReference(key: CacheKey(first.description), url: first)]
        try await StoreBenchmark.hit(resource)
    }

    private func makeFirst() async throws {
        let cache = try await open()
        // The row of a title is made for the file that it lists.
        for segment in 0..<segments { try await play(cache, title: 0, segment: segment) }
        try await play(cache, title: 0, segment: nil)
        await cache.close()
    }

    // MARK: - Copies

    private static func name(_ title: Int) -> String { "title-" + String("\(1_000_000 + title)".dropFirst()) }

    private var index: String { "\(directory)/catalogue.sqlite" }

    private func queue() throws -> DatabaseQueue {
        var configuration = Configuration()
        configuration.prepareDatabase {
            try $0.execute(
                sql: "PRAGMA synchronous = OFF; PRAGMA cache_size = -1000000; PRAGMA wal_autocheckpoint = 100000")
        }
        return try DatabaseQueue(path: index, configuration: configuration)
    }

    private func copy() throws {
        let queue = try queue()
        let files = try templates(queue)
        let template: Data? = try queue.read { try Data.fetchOne($0, sql: "SELECT record FROM title") }
        guard files.count == segments + 1, let template else {
            throw BenchmarkError(text: "\(files.count) files of the first title are stored")
        }
        let record = Self.pieces(template)
        for folder in 0..<256 {
            let name = String(format: "%02x", folder)
            try FileManager.default.createDirectory(
                atPath: "\(directory)/media/\(name)", withIntermediateDirectories: true)
        }
        for title in 1..<titles {
            try queue.write { database in
                let hash = CacheKey(list(title)).hash
                try database.execute(
                    sql: "INSERT INTO title (keyHash, named, record) VALUES (?, 0, ?)",
                    arguments: [hash, Self.record(record, of: title, context: "title \(hash)")])
                let id = database.lastInsertedRowID
                for file in files { try copy(file, to: title, id: id, in: database) }
            }
        }
        try queue.write { try $0.execute(sql: "PRAGMA optimize") }
        _ = try queue.writeWithoutTransaction { try $0.checkpoint(.truncate) }
        try queue.close()
    }

    private func copy(_ file: Template, to title: Int, id: Int64, in database: Database) throws {
        // Numbers ascend by title, as those of titles that were stored one after another.
        let generation = file.generation + Int64(title) << 33
        let hash = CacheKey(file.key.joined(separator: Self.name(title))).hash
        func insert(_ sql: String, _ arguments: StatementArguments) throws {
            try database.cachedStatement(sql: "INSERT INTO " + sql).execute(arguments: arguments)
        }
        try insert(
            "generation (id, keyHash, record, salt, allocated, stored) VALUES (?, ?, ?, ?, ?, ?)",
            [
                generation, hash, Self.record(file.record, of: title, context: "record \(hash) \(generation)"),
                file.salt, file.allocated, file.stored,
            ])
        try insert(
            "entry (keyHash, generation, lastUsed, retained) VALUES (?, ?, ?, 0)", [hash, generation, file.lastUsed])
        try insert("chunk (generation, block, chunks) VALUES (?, 0, ?)", [generation, file.chunks])
        try insert("member (keyHash, title) VALUES (?, ?)", [hash, id])
        // No link, because a data file that has another name is refused.
        let descriptor = creat(path(hash, generation), 0o600)
        defer { close(descriptor) }
        guard write(descriptor, file.bytes, file.bytes.count) == file.bytes.count else {
            throw BenchmarkError(text: "a file cannot be written: error \(errno)")
        }
    }

    /// A file of the first title: what its rows have, and its bytes.
    private struct Template {
        let generation, allocated, stored: Int64
        let salt, chunks: Data
        let lastUsed: Double
        /// What stands between the names of the title.
        let record, key: [String]
        let bytes: [UInt8]
    }

    private func templates(_ queue: DatabaseQueue) throws -> [Template] {
        struct Fields: Decodable { var k: String }
        let rows = try queue.read { database in
            try Row.fetchAll(
                database,
                sql: """
                    SELECT entry.keyHash, id, record, salt, allocated, stored, chunks, lastUsed FROM entry
                    JOIN generation ON generation.id = entry.generation JOIN chunk ON chunk.generation = id ORDER BY id
                    """)
        }
        return try rows.map { row in
            let record: Data = row["record"]
            return Template(
                generation: row["id"], allocated: row["allocated"], stored: row["stored"], salt: row["salt"],
                chunks: row["chunks"], lastUsed: row["lastUsed"], record: Self.pieces(record),
                key: try JSONDecoder().decode(Fields.self, from: record.dropLast(8)).k
                    .components(separatedBy: Self.name(0)),
                bytes: [UInt8](try Data(contentsOf: URL(fileURLWithPath: path(row["keyHash"], row["id"])))))
        }
    }

    /// A record of the first title without its checksum, cut where the title is named.
    private static func pieces(_ record: Data) -> [String] {
        String(decoding: record.dropLast(8), as: UTF8.self).components(separatedBy: name(0))
    }

    /// The record of another title, with its checksum.
    private static func record(_ pieces: [String], of title: Int, context: String) -> Data {
        let json = pieces.joined(separator: name(title))
        let sum = Array((json + context).utf8).withUnsafeBytes { XXHash64.checksum(of: $0) }
        return Data(json.utf8) + withUnsafeBytes(of: sum.littleEndian) { Data($0) }
    }

    private func path(_ hash: String, _ generation: Int64) -> String {
        "\(directory)/media/\(hash.prefix(2))/\(hash)-\(String(UInt64(bitPattern: generation), radix: 16))"
    }

    /// Gives every title the tag that the first has.
    private func tagAll() throws {
        let queue = try queue()
        try queue.write {
            try $0.execute(
                sql: "UPDATE title SET named = 1, tag = (SELECT tag FROM title WHERE tag IS NOT NULL) WHERE tag IS NULL")
        }
        try queue.close()
    }
}

private struct BenchmarkError: Error { let text: String }

/// An origin in this process: lists of segments, and segments of a kilobyte.
private struct TitleOrigin: Origin {
    let segments: Int
    /// Whether nothing may be asked for.
    let isAway: Bool

    func send(_ request: OriginRequest) async throws -> OriginResponse {
        if isAway { throw BenchmarkError(text: "\(request.url) is not stored") }
        let isList = request.url.lastPathComponent.hasSuffix(".m3u8")
        var head = HTTPResponse(status: .ok)
        head.headerFields[.eTag] = "\"1\""
        head.headerFields[.contentType] = isList ? "application/vnd.apple.mpegurl" : "video/mp2t"
        let bytes = isList ? list : TestPattern.bytes(in: 0..<1_024, seed: 1)
        head.headerFields[.contentLength] = "\(bytes.count)"
        return OriginResponse(head: head, url: request.url, body: WholeBody(bytes))
    }

    private var list: [UInt8] {
        let lines = (0..<segments).map { "#EXTINF:4,\n\($0).ts\n" }.joined()
        return Array("#EXTM3U\n#EXT-X-TARGETDURATION:4\n#EXT-X-PLAYLIST-TYPE:VOD\n\(lines)#EXT-X-ENDLIST\n".utf8)
    }
}

private actor WholeBody: OriginBody {
    private struct Bytes: ByteChunk {
        let bytes: [UInt8]

        var count: Int { bytes.count }

        func withUnsafeBytes<R>(_ body: (UnsafeRawBufferPointer) throws -> R) rethrows -> R {
            try bytes.withUnsafeBytes(body)
        }
    }

    private var bytes: [UInt8]?

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func next() async throws -> (any ByteChunk)? {
        defer { bytes = nil }
        return bytes.map { Bytes(bytes: $0) }
    }

    nonisolated func cancel() {}
}
