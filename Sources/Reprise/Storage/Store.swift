import Foundation
import HTTPSemantics
import Primitives

/// The disk side of a cache: directory, lock, index, quota.
final class Store: Sendable {
    let directory: String
    let index: Index
    let recorder: Recorder
    let quota: Quota
    let evictor: Evictor
    let tagKeeper = TagKeeper()
    let fileSystem: any FileSystem
    let breaker: Breaker
    let openFiles: OpenFiles
    /// Maximum size of one entry, in bytes.
    let entryLimit: Int64
    /// `nil` in a plain cache.
    let vault: Vault?
    /// The hosts that were known to splice at the opening, by name, with the time when that was seen last.
    let splicingHosts: [String: Int64]
    /// Whether the previous process did not close the cache, so that files may contain bytes without a record.
    let isUnclean: Bool
    let reporter: Reporter
    /// Why nothing can be written; `nil` if the directory is open for writing.
    let problem: RepriseError?
    /// The limit that was recorded before the opening.
    let limitBefore: Int64?
    /// Why the cache started empty although there was an index; `nil` otherwise.
    let reset: String?
    private let lock: DirectoryLock?
    private let reached: (@Sendable (CrashPoint) -> Void)?
    private let isClosed = Mutex(false)
    let leftovers = CrashLeftovers()
    /// Fulfilled once the quota includes what a killed process left, or the time to count it is over.
    let usageKnown = Promise<Void>()
    private let punches = Mutex(FetchSchedule.extent <= largestExtent)
    private static let largestExtent: Int64 = 32 << 20
    /// Whether the file system punches holes that are small enough to evict parts of entries.
    var canPunch: Bool { punches.withLock { $0 } }

    init(
        directory: String, configuration: MediaCache.Configuration, vault: Vault?, reporter: Reporter
    ) throws(RepriseError) {
        let opening = try StoreOpening(directory, vault: vault, configuration: configuration)
        self.directory = directory
        self.reporter = reporter
        self.vault = vault
        entryLimit = configuration.entryLimit ?? .max
        reached = configuration.reached
        lock = opening.lock
        let fileSystem = opening.fileSystem
        self.fileSystem = fileSystem
        index = opening.index
        splicingHosts = try index.statistics.splicingHosts()
        isUnclean = opening.isUnclean
        if !isUnclean { usageKnown.fulfill() }
        problem = opening.problem
        limitBefore = opening.limitBefore
        reset = opening.reset
        if let reason = opening.reset { reporter.tell(.storeReset(reason: reason)) }
        if let problem { reporter.tell(.storeBypassed(nil, reason: problem.explanation)) }
        let recorded = configuration.usesRecordedLimit ? opening.limit : nil
        quota = Quota(
            limit: Self.limit(recorded ?? configuration.limit), used: try index.entries.usage(),
            floor: configuration.minimumFree, capacity: { (try? fileSystem.capacity(at: directory)) ?? nil },
            freeBytes: { try? fileSystem.freeBytes(at: directory) })
        breaker = Breaker(clock: configuration.clock, problem: opening.problem?.message)
        openFiles = OpenFiles(limit: configuration.openFiles ?? OpenFiles.defaultLimit)
        recorder = Recorder(
            index: index, reporter: reporter, breaker: breaker, clock: configuration.clock,
            problem: opening.problem, delay: configuration.recordDelay,
            reached: configuration.reached,
            onWritten: { [quota, fileSystem, index] in
                quota.setIndexBytes(Self.charge(for: index, in: directory, fileSystem: fileSystem))
            }, onGrowth: { [tagKeeper] in tagKeeper.grew($0) })
        evictor = Evictor(
            configuration.evictionPolicy, index: index, recorder: recorder, quota: quota,
            clock: configuration.clock)
        quota.setIndexBytes(Self.charge(for: index, in: directory, fileSystem: fileSystem))
        reach(.opened)
    }

    /// Clamps a limit: see ``MediaCache/Configuration/limit``.
    static func limit(_ bytes: Int64) -> Int64 { min(max(0, bytes), .largestPosition) }

    /// Fulfilled when other caches may use the directory; `nil` if they may at any time.
    var released: Promise<Void>? { lock?.released }

    func noteCannotPunch() { punches.withLock { $0 = false } }

    /// Reports a crash point to tests.
    func reach(_ point: CrashPoint) { reached?(point) }

    func path(name: String, generation: Int64) -> String {
        DataFileName(hash: name, generation: generation).path(in: directory)
    }

    func path(_ record: GenerationRecord) -> String {
        path(name: index.name(of: record.key), generation: record.id)
    }

    /// Opens or creates the data file of `record`.
    func file(_ record: GenerationRecord, create: Bool) throws(RepriseError) -> DataFile {
        let path = path(record)
        guard create else { return try DataFile(path: path, create: false, in: fileSystem, openFiles: openFiles) }
        // Checked under the lock, so that no file is created once the cache is closed.
        return try isClosed.withLock { isClosed throws(RepriseError) in
            guard !isClosed else { throw RepriseError(.closed, "The cache was closed.") }
            leftovers.noteMade(record.id)
            return try DataFile(path: path, create: true, in: fileSystem, openFiles: openFiles)
        }
    }

    /// Removes a file whose record was removed.
    ///
    /// Returns a file that cannot be removed. It is emptied if nothing can be reading it (`isUnread`). Its bytes, or
    /// `recorded` if they cannot be counted, count until they are freed. The next opening finds it as an orphan.
    @discardableResult
    func removeFile(name: String, generation: Int64, isUnread: Bool = false, recorded: Int64 = 0) -> LeftFile? {
        dischargeExcess(generation)
        defer { reach(.removed) }
        let path = path(name: name, generation: generation)
        do throws(SystemError) {
            try fileSystem.remove(path)
            return nil
        } catch {
            guard !error.isMissingFile else { return nil }
            // The folder may be read-only while the file is not.
            if isUnread { try? fileSystem.open(path, create: false).truncate(to: 0) }
            return LeftFile(path: path, error: error, allocated: charge(path, of: generation, recorded: recorded))
        }
    }

    /// Charges the blocks of the file at `path`, which has no record, or `recorded` bytes if they cannot be counted.
    ///
    /// Returns the charged bytes.
    func charge(_ path: String, of generation: Int64, recorded: Int64 = 0) -> Int64 {
        let allocated = (try? fileSystem.status(of: path).allocated) ?? recorded
        guard allocated > 0 else { return 0 }
        leftovers.note(excess: allocated, of: generation)
        quota.correct(from: Usage(), to: Usage(allocated: allocated))
        return allocated
    }

    /// The charge for the index: its size without free pages, and with the log at its largest, so that the log can
    /// grow.
    private static func charge(for index: Index, in directory: String, fileSystem: any FileSystem) -> Int64 {
        let log = (try? fileSystem.status(of: "\(directory)/\(IndexDatabase.fileName)-wal"))?.allocated ?? 0
        return indexBytes(directory, fileSystem: fileSystem) + max(0, IndexDatabase.logBytes - log)
            - index.database.freeBytes
    }

    /// Bytes that the index occupies on the disk.
    static func indexBytes(_ directory: String, fileSystem: any FileSystem) -> Int64 {
        IndexDatabase.fileSuffixes.reduce(0) { sum, suffix in
            sum + ((try? fileSystem.status(of: "\(directory)/\(IndexDatabase.fileName)\(suffix)"))?.allocated ?? 0)
        }
    }

    // MARK: - Refusals

    /// Below this limit, an entry larger than the limit is not stored at all, because too little of it could be kept.
    private static let leastLimitForExtents: Int64 = 8 << 20

    /// Why a representation of `length` bytes must not be stored; `nil` if it may be.
    func refusal(of length: Int64?) -> String? {
        if let reason = breaker.reason { return reason }
        guard let length else { return nil }
        if length > entryLimit { return tooLargeReason }
        return length > quota.limit && quota.limit < Self.leastLimitForExtents ? noRoomReason : nil
    }

    var tooLargeReason: String { "It is larger than \(entryLimit) bytes, the most that one entry may occupy." }

    /// Why the directory can no longer be used, because it or its disk was removed; `nil` if it can.
    var lossReason: String? {
        for path in [directory, "\(directory)/\(IndexDatabase.fileName)"] {
            do throws(SystemError) { _ = try fileSystem.status(of: path) } catch {
                return "\(path) is gone, or cannot be looked into any more (\(error)). Nothing can be stored there."
            }
        }
        return nil
    }

    /// Why there is no room for `bytes`: because of the directory, the disk, the pins or the limit.
    func noRoomReason(for bytes: Int64) -> String {
        if let reason = lossReason { return reason }
        return diskObstacle(to: bytes)?.description ?? noRoomReason
    }

    /// Why the disk has no room for `bytes` more of a representation of unknown length.
    private func diskObstacle(to bytes: Int64) -> StorageObstacle? {
        guard let (_, free, floor) = quota.diskShortage(bytes) else { return nil }
        if let (capacity, floor) = quota.smallDisk(for: bytes) {
            return .largerThanDisk(length: nil, capacity: capacity, floor: floor)
        }
        return .fullDisk(free: free, floor: floor)
    }

    /// Why the limit leaves no room, which may be because of pins.
    private var noRoomReason: String { noRoomReason(retained: (try? index.retentions.retainedUsage()) ?? Usage()) }

    /// The same; `retained` is the usage of pins and downloads.
    func noRoomReason(retained: Usage) -> String {
        if let reason = lossReason { return reason }
        let held = retained.allocated
        guard held > quota.limit / 2 else { return "The limit of \(quota.limit) bytes leaves no room." }
        return
            "Pinned entries and downloads occupy \(held) of the limit of \(quota.limit) bytes: release some, or raise "
            + "the limit."
    }

    /// Why no more can be stored of a representation of unknown length that needs at least `bytes` more.
    ///
    /// `allocated` is the part of the retained bytes that it occupies itself.
    func obstacleToMore(besides allocated: Int64, needing bytes: Int64 = 0) -> StorageObstacle {
        if let reason = breaker.reason ?? lossReason { return .store(reason: reason) }
        if let obstacle = diskObstacle(to: max(bytes, Self.mostReserved)) { return obstacle }
        if entryLimit < quota.limit { return .outgrownEntryLimit(limit: entryLimit) }
        let kept = (try? index.retentions.retainedUsage())?.allocated ?? 0
        return .outgrown(kept: max(0, kept - allocated), limit: quota.limit)
    }

    /// The lack of free disk space because of which nothing can be stored, whatever is evicted.
    var shortage: StorageObstacle? {
        guard let missing = quota.diskShortage(Self.mostReserved)?.missing, missing > quota.usage.allocated else {
            return nil
        }
        return diskObstacle(to: Self.mostReserved)
    }

    /// Why nothing more can be stored, whatever is evicted: the disk is too full, or pinned entries and downloads fill
    /// the limit.
    func lackOfRoom() async -> StorageObstacle? {
        if let shortage { return shortage }
        guard quota.shortage(Self.mostReserved, countsIndex: false) > 0,
            let kept = try? await index.look({ try $0.retentions.retainedUsage() }).allocated,
            kept + Self.mostReserved > quota.limit
        else { return nil }
        return .filledByKept(kept: kept, limit: quota.limit)
    }

    /// Most bytes that are reserved at once.
    private static let mostReserved: Int64 = 1 << 20

    /// Records everything and closes the directory.
    func close() async throws(RepriseError) {
        defer { lock?.release() }
        // Waits for a file that is being created.
        await DiskQueue.shared.run { [self] in isClosed.withLock { $0 = true } }
        guard await recorder.close() else { return }
        guard problem == nil else {
            return try await DiskQueue.shared.run { [index] () throws(RepriseError) in try index.database.close() }
        }
        reach(.closing)
        var failure: RepriseError?
        do throws(RepriseError) {
            // If bytes that a crash left are not accounted for, the next opening searches again.
            if !isUnclean || leftovers.isSettled { try await index.database.endSession() }
        } catch {
            failure = error
        }
        try await DiskQueue.shared.run { [self, failure] () throws(RepriseError) in
            try index.database.close()
            if let failure { throw failure }
            IndexReserve(directory, fileSystem: fileSystem).make()
        }
    }
}
