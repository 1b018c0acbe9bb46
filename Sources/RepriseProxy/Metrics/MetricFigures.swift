import Reprise

/// Everything that a server exports as metrics, at one moment.
struct MetricFigures: Sendable {
    var cache = CacheTally()
    var answers = AnswerTally()
    var process: ProcessFigures
    /// Bytes that media and the index occupy on disk.
    var media: Int64 = 0, index: Int64 = 0
    var limit: Int64 = 0
    /// `nil` if it is unknown.
    var diskFree: Int64?
    /// `nil` without a store, and while the index cannot be read.
    var entries: EntryCounts?
    var connections: Int64 = 0, connectionsRefused: Int64 = 0
    var fetches: Int64 = 0
    /// Open connections to origins, and the idle ones among them.
    var originConnections = (open: 0, idle: 0)
    /// Lines of the access log that were never written.
    var droppedLines: Int64 = 0
    /// What was answered to the holders of each token that has a name.
    var tokens: [String: TokenTally] = [:]
    var parents = ParentTally()
    var isReady = true
    /// What the server is called.
    var name = ""
    /// Whether hosts of origins have series of their own.
    var namesHosts = true

    /// The figures of `service` now.
    ///
    /// Waits for the disk only the first time, for the number of entries. Each event loop adds up its own counts when
    /// its turn comes.
    init(of service: ProxyService) async throws {
        // The system lists the descriptors of the process, which may take long.
        process = await DiskQueue.shared.run { ProcessFigures() }
        answers = try await service.answerTally()
        let cache = service.cache
        self.cache = cache.tally
        (media, index) = (cache.allocatedBytes.media, cache.allocatedBytes.index)
        (limit, diskFree) = (cache.limit, cache.freeBytes)
        entries = try? await cache.entryCounts()
        connections = Int64(service.connections)
        connectionsRefused = service.connectionsRefused
        fetches = Int64(cache.fetchesUnderWay)
        originConnections = service.configuration.originConnections?() ?? originConnections
        droppedLines = service.accessLog?.droppedLines ?? 0
        // Also of those who have not asked for anything yet.
        let names = service.tokens?.current.names ?? []
        tokens = answers.tokens.merging(names.map { ($0, TokenTally()) }) { counted, _ in counted }
        parents = service.configuration.parentTally?() ?? parents
        isReady = [.ready, .degraded].contains(service.readiness)
        name = service.configuration.name
        namesHosts = service.configuration.namesHostsInMetrics
    }

    init() { process = ProcessFigures() }

    /// All metrics, in the order in which they are exported.
    var families: [MetricFamily] { served + origins + edge + store + server + programs }

    // MARK: - Readers

    private typealias Sample = MetricFamily.Sample

    private var served: [MetricFamily] {
        let sources = PieceSource.allCases
        return [
            MetricFamily(
                "reprise_served_bytes_total", .counter, "Bytes of media given to readers, by their source.",
                sources.map { Sample(.integer(cache.served[$0]), ["source": $0.rawValue]) }),
            MetricFamily(
                "reprise_reads_total", .counter,
                "Reads, by how they began and whether another reader's fetch brought their first byte.", reads),
            MetricFamily(
                "reprise_responses_total", .counter, "Answers at the port, by method and class of the status.",
                AnswerTally.Method.allCases.flatMap { method in
                    AnswerTally.Code.allCases.map { code in
                        Sample(
                            .integer(answers.count(method, code)), ["method": method.name, "code": code.name])
                    }
                }),
            MetricFamily(
                "reprise_token_responses_total", .counter, "Answers to clients with a token, by its name.",
                perToken(\.responses)),
            MetricFamily(
                "reprise_token_bytes_total", .counter, "Bytes of bodies sent to clients with a token, by its name.",
                perToken(\.bodyBytes)),
            MetricFamily(
                "reprise_first_byte_seconds", .histogram,
                "Time from a request to the first byte of its answer, by the source of the first byte.",
                sources.map { Sample(.histogram(answers.firstByte(from: $0)), ["source": $0.rawValue]) }),
            MetricFamily(
                "reprise_readers", .gauge, "Reads and hits under way.",
                Int64(cache.openReads) + answers.hitsUnderWay),
        ]
    }

    private func perToken(_ count: KeyPath<TokenTally, Int64>) -> [Sample] {
        tokens.sorted { $0.key < $1.key }.map { Sample(.integer($0.value[keyPath: count]), ["token": $0.key]) }
    }

    private var reads: [Sample] {
        // To a monitor, a file that is not known is a miss like any other.
        let kinds: [(String, [ReadDisposition])] = [
            ("hit", [.hit]), ("partial", [.partial]), ("miss", [.miss, .unknown]), ("validated", [.validated]),
            ("bypass", [.bypass]),
        ]
        return kinds.flatMap { name, dispositions in
            [false, true].map { isCollapsed in
                let count = dispositions.reduce(0) { $0 + cache.reads.count($1, isCollapsed: isCollapsed) }
                return Sample(.integer(count), ["disposition": name, "collapsed": "\(isCollapsed)"])
            }
        }
    }

    // MARK: - Origins

    private typealias Host = (labels: [MetricFamily.Label], counts: OriginCounts)

    /// The counts of origins, each with the label of its host.
    private var hosts: [Host] {
        guard namesHosts else { return [] }
        var (named, others) = (cache.origins.named, cache.origins.others)
        // A host may have this name, too.
        if let host = named.removeValue(forKey: Self.others) { others += host }
        let all = named.sorted { $0.key < $1.key } + [(Self.others, others)]
        return all.map { ([MetricFamily.Label(name: "host", value: $0.key)], $0.value) }
    }

    /// The label of all hosts without one of their own.
    static let others = "other"

    /// What is counted of origins.
    ///
    /// Sums have series of their own, because the counts of a host that loses its name move to the others at once,
    /// which a monitor takes for new traffic of theirs.
    private var origins: [MetricFamily] {
        let (all, hosts) = ([Host([], cache.origins.all)], hosts)
        return [
            MetricFamily(
                "reprise_origin_bytes_total", .counter, "Body bytes received from origins.", Self.bytes(all, \.bytes)),
            MetricFamily(
                "reprise_origin_requests_total", .counter, "Requests to origins, by how they ended.",
                Self.requests(all)),
            MetricFamily(
                "reprise_origin_first_byte_seconds", .histogram,
                "Time from a request to an origin to the head of its response.", Self.firstByte(all)),
            MetricFamily(
                "reprise_origin_host_bytes_total", .counter, "Body bytes received from origins, by host.",
                Self.bytes(hosts, \.bytes)),
            MetricFamily(
                "reprise_origin_host_served_bytes_total", .counter,
                "Bytes of media given to readers, by host of the origin.", Self.bytes(hosts, \.servedBytes)),
            MetricFamily(
                "reprise_origin_host_requests_total", .counter, "Requests to origins, by host and how they ended.",
                Self.requests(hosts)),
            MetricFamily(
                "reprise_origin_host_first_byte_seconds", .histogram,
                "Time from a request to an origin to the head of its response, by host.", Self.firstByte(hosts)),
            MetricFamily(
                "reprise_origin_connections", .gauge, "Open connections to origins, by whether they carry a request.",
                [
                    Sample(.integer(Int64(originConnections.open - originConnections.idle)), ["state": "busy"]),
                    Sample(.integer(Int64(originConnections.idle)), ["state": "idle"]),
                ]),
            MetricFamily("reprise_fetches", .gauge, "Fetches under way.", fetches),
            MetricFamily(
                "reprise_fetch_retries_total", .counter, "Repetitions of failed requests to origins, by error.",
                cache.retries.sorted { $0.key < $1.key }.map { Sample(.integer($0.value), ["reason": $0.key]) }),
        ]
    }

    private static func bytes(_ hosts: [Host], _ count: KeyPath<OriginCounts, Int64>) -> [Sample] {
        hosts.map { Sample(.integer($0.counts[keyPath: count]), $0.labels) }
    }

    private static func requests(_ hosts: [Host]) -> [Sample] {
        hosts.flatMap { host in
            OriginCounts.Outcome.allCases.map { outcome in
                Sample(
                    .integer(host.counts.requests[outcome] ?? 0),
                    host.labels + [MetricFamily.Label(name: "outcome", value: outcome.rawValue)])
            }
        }
    }

    private static func firstByte(_ hosts: [Host]) -> [Sample] {
        hosts.map { Sample(.histogram($0.counts.firstByte), $0.labels) }
    }

    // MARK: - Parents

    private var edge: [MetricFamily] {
        [
            MetricFamily(
                "reprise_parent_requests_total", .counter, "Requests to parents, by how they ended.",
                perParent { name, counts in
                    ParentTally.Outcome.allCases.map { outcome in
                        Sample(
                            .integer(counts.requests[outcome] ?? 0), ["parent": name, "outcome": outcome.rawValue])
                    }
                }),
            MetricFamily(
                "reprise_parent_bytes_total", .counter, "Body bytes received from parents.",
                perParent { [Sample(.integer($1.bytes), ["parent": $0])] }),
            MetricFamily(
                "reprise_parent_bodies_broken_total", .counter,
                "Bodies of parents that broke off, the rest of which is asked for again.",
                perParent { [Sample(.integer($1.brokenBodies), ["parent": $0])] }),
            MetricFamily(
                "reprise_parent_switches_total", .counter,
                "Requests that a parent did not answer, by where they went on.",
                parents.parents.isEmpty
                    ? []
                    : ParentTally.Resort.allCases.map { resort in
                        Sample(.integer(parents.resorts[resort] ?? 0), ["to": resort.rawValue])
                    }),
        ]
    }

    private func perParent(_ samples: (String, ParentTally.Counts) -> [Sample]) -> [Sample] {
        parents.parents.sorted { $0.key < $1.key }.flatMap { samples($0.key, $0.value) }
    }

    // MARK: - The store

    private var store: [MetricFamily] {
        [
            MetricFamily("reprise_store_bytes", .gauge, "Bytes that media occupy on disk.", media),
            MetricFamily("reprise_store_limit_bytes", .gauge, "Most bytes that media and index may occupy.", limit),
            MetricFamily(
                "reprise_store_entries", .gauge, "Files with stored bytes, by whether all of theirs are.",
                entries.map { entries in
                    [true, false].map {
                        Sample(.integer($0 ? entries.complete : entries.partial), ["complete": "\($0)"])
                    }
                } ?? []),
            MetricFamily("reprise_index_bytes", .gauge, "Bytes that the index occupies on disk.", index),
            MetricFamily(
                "reprise_disk_free_bytes", .gauge, "Free bytes of the disk.",
                diskFree.map { [Sample(.integer($0))] } ?? []),
            MetricFamily(
                "reprise_evicted_bytes_total", .counter, "Bytes of media that were evicted, by reason.",
                EvictionReason.allCases.map { Sample(.integer(cache.evicted[$0] ?? 0), ["reason": $0.rawValue]) }),
            MetricFamily(
                "reprise_stored_bytes_damaged_total", .counter, "Stored bytes that failed their check.",
                cache.damagedBytes),
            MetricFamily(
                "reprise_store_bypassed_total", .counter, "How often bytes began to bypass the store, by reason.",
                BypassReason.allCases.map { Sample(.integer(cache.bypasses[$0] ?? 0), ["reason": $0.rawValue]) }),
            MetricFamily(
                "reprise_stale_served_total", .counter,
                "Stale responses that were served because the origin did not answer.", cache.staleServed),
            MetricFamily(
                "reprise_generations_replaced_total", .counter, "Files that had changed at their origin.",
                cache.generationsReplaced),
        ]
    }

    // MARK: - The server

    private var server: [MetricFamily] {
        [
            MetricFamily("reprise_connections", .gauge, "Open connections of clients.", connections),
            MetricFamily(
                "reprise_connections_refused_total", .counter,
                "Connections beyond the limit, which were answered with 503 or closed.", connectionsRefused),
            MetricFamily(
                "reprise_ready", .gauge, "1 while new requests should come here, otherwise 0.", isReady ? 1 : 0),
            MetricFamily(
                "reprise_access_log_dropped_total", .counter, "Lines of the access log that were lost.", droppedLines),
            MetricFamily(
                "reprise_build_info", .gauge, "Always 1; the labels name the program and the server.",
                [Sample(.integer(1), ["version": Build.version, "swift": Build.compiler, "name": name])]),
        ]
    }

    private var programs: [MetricFamily] {
        [
            MetricFamily(
                "process_cpu_seconds_total", .counter, "Processor time of the process, in seconds.",
                [Sample(.number(process.processorTime))]),
            MetricFamily(
                "process_resident_memory_bytes", .gauge, "Resident memory of the process, in bytes.",
                process.residentBytes.map { [Sample(.integer($0))] } ?? []),
            MetricFamily(
                "process_open_fds", .gauge, "Open file descriptors.",
                process.openDescriptors.map { [Sample(.integer($0))] } ?? []),
            MetricFamily(
                "process_max_fds", .gauge, "Most file descriptors that the process may have open.",
                process.mostDescriptors.map { [Sample(.integer($0))] } ?? []),
            MetricFamily(
                "process_start_time_seconds", .gauge, "When the process began, in seconds since 1970.",
                process.startTime.map { [Sample(.number($0))] } ?? []),
        ]
    }
}
