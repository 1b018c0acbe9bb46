import Reprise

extension StorageObstacle {
    /// ``advice`` for `resource`: where nothing else is kept, a pin that is released does not help, and its own bytes
    /// are not those of others.
    func advice(for resource: MediaResource) async -> String {
        switch self {
        case .tag(let tag, let kept, let missing, let limit):
            let others = min(await resource.keptBytesOfOthers(taggedAs: tag) ?? kept, kept)
            let needed = kept - others + missing
            guard needed > limit else {
                return StorageObstacle.tag(tag, kept: others, missing: needed, limit: limit).advice
            }
            return
                "it does not fit the limit of titles tagged \(tag.printable), which is \(ByteCount(limit)). Raise it with: "
                + "reprise limit \(tag.printable) SIZE"
        case .keptEntries(_, _, let limit), .outgrown(_, let limit):
            guard await resource.isKeptBesideOthers() else { return Self.advice(limit: limit) }
            return advice
        default: return advice
        }
    }

    /// Whether a download of `resource`, of which `stored` bytes are there, may go on once others leave it room; false
    /// where it is too large by itself.
    func endsWithRoom(for resource: MediaResource, stored: Int64) async -> Bool {
        switch self {
        case .forbidden, .coded, .offline: false
        case .largerThanLimit, .largerThanEntryLimit, .largerThanDisk, .outgrownEntryLimit: false
        case .keptEntries: await resource.isKeptBesideOthers()
        // With what there is it nearly fills the cache alone, and others have little to leave to it.
        case .outgrown(_, let limit): stored > limit / 10 * 9 ? false : await resource.isKeptBesideOthers()
        case .tag(let tag, let kept, let missing, let limit):
            kept - min(await resource.keptBytesOfOthers(taggedAs: tag) ?? kept, kept) + missing <= limit
        case .disk, .fullDisk, .filledByKept, .promised, .store: true
        }
    }

    /// Why it cannot be stored as a whole and what helps, in the words of the command's options.
    var advice: String {
        switch self {
        case .forbidden: "the response must not be stored."
        case .coded(let file, let coding):
            "the origin sends \(file.printable) encoded (Content-Encoding: \(coding.printable)), which was not asked for, "
                + "and parts of that are no parts of the file."
        case .offline:
            "the server is offline, so no origin is asked for what is missing. Start the server without --offline."
        case .largerThanLimit(let length, let limit):
            "it has \(ByteCount(length)), and the limit of the cache is \(ByteCount(limit)). Raise it with --limit."
        case .largerThanEntryLimit(let length, let limit):
            "it has \(ByteCount(length)), and --entry-limit is \(ByteCount(limit))."
        case .largerThanDisk(let length, let capacity, let floor):
            (length.map { "it has \(ByteCount($0)), and the" } ?? "the")
                + " disk is too small: it has \(ByteCount(capacity)), and \(ByteCount(floor)) are to stay free "
                + "(--minimum-free, and what the index needs). Choose a directory on another one with --cache-dir."
        case .filledByKept(let kept, let limit),
            .outgrown(let kept, let limit) where kept > limit / 2:
            "pinned entries and downloads occupy \(ByteCount(kept)) of the limit of \(ByteCount(limit)). Raise the limit with "
                + "--limit, or release some with: reprise unpin"
        case .outgrown(_, let limit): Self.advice(limit: limit)
        case .outgrownEntryLimit(let limit):
            "it is larger than --entry-limit, which is \(ByteCount(limit))."
        case .keptEntries(let length, let kept, let limit):
            "it has \(ByteCount(length)), and pinned entries and downloads occupy \(ByteCount(kept)) of the limit of "
                + "\(ByteCount(limit)). Raise the limit with --limit, or release some with: reprise unpin"
        case .disk(let length, let free, let floor):
            "it has \(ByteCount(length)); " + Self.advice(free: free, floor: floor)
        case .fullDisk(let free, let floor): Self.advice(free: free, floor: floor)
        case .promised(let others, _):
            "other downloads that are under way need \(ByteCount(others)) more, which leave no room for it. It goes on when "
                + "some of them have ended, or with more room."
        case .tag(let tag, let kept, let missing, let limit):
            "titles tagged \(tag.printable) may occupy \(ByteCount(limit)); pinned ones, downloads and kept beginnings occupy "
                + "\(ByteCount(kept))" + (missing > 0 ? ", and \(ByteCount(missing)) more are needed" : "")
                + ". Raise the limit with: reprise limit \(tag.printable) SIZE"
        case .store(let reason): reason.prefix(1).lowercased() + reason.dropFirst()
        }
    }

    /// What helps against a limit that it does not fit by itself.
    private static func advice(limit: Int64) -> String {
        "it does not fit the limit of the cache, which is \(ByteCount(limit)). Raise it with --limit."
    }

    /// What helps against a disk that has `free` bytes left, `floor` of which stay free.
    private static func advice(free: Int64, floor: Int64) -> String {
        "\(ByteCount(free)) are free on the disk, and \(ByteCount(floor)) are to stay free (--minimum-free, and what the "
            + "index needs). Free some of the disk, or choose a directory on another one with --cache-dir."
    }
}
