/// Why a representation cannot be stored as a whole.
package enum StorageObstacle: Sendable, Equatable, CustomStringConvertible {
    /// The response must not be stored, for example because of `no-store`.
    case forbidden
    /// The origin sends this file in a content coding, such as `gzip`, that was not asked for.
    case coded(file: String, coding: String)
    /// No origin is asked for the missing bytes, because the cache is offline.
    case offline
    /// The representation is larger than the cache's limit.
    case largerThanLimit(length: Int64, limit: Int64)
    /// The representation is larger than one entry may be.
    case largerThanEntryLimit(length: Int64, limit: Int64)
    /// The disk, of which `floor` bytes stay free, is too small for it, even with nothing else on it; the length is
    /// `nil` where it is not known.
    case largerThanDisk(length: Int64?, capacity: Int64, floor: Int64)
    /// It has more bytes than the cache has room for, which turned out on the way; pinned entries and downloads occupy
    /// `kept`.
    case outgrown(kept: Int64, limit: Int64)
    /// It has more bytes than one entry may occupy, which turned out on the way.
    case outgrownEntryLimit(limit: Int64)
    /// Pinned entries and downloads leave no room for anything else under the limit.
    case filledByKept(kept: Int64, limit: Int64)
    /// Pinned entries and downloads leave no room for it under the limit.
    case keptEntries(length: Int64, kept: Int64, limit: Int64)
    /// The disk has `free` bytes left, `floor` of which stay free, and eviction would not free enough.
    case disk(length: Int64, free: Int64, floor: Int64)
    /// The disk has `free` bytes left, `floor` of which stay free: no room for more of anything.
    case fullDisk(free: Int64, floor: Int64)
    /// Other downloads that are under way are to get `others` bytes more, which leave no room for it; with what is
    /// occupied, `taken` bytes were not to be had.
    case promised(others: Int64, taken: Int64)
    /// Pinned titles, downloads and kept beginnings with a tag occupy `kept` bytes, and with `missing` more they would
    /// exceed the limit of the tag.
    case tag(String, kept: Int64, missing: Int64, limit: Int64)
    /// Nothing, or nothing more, can be stored at present.
    case store(reason: String)

    /// Whether it is the response that must not be stored, whatever room there is.
    var isOfResponse: Bool {
        switch self {
        case .forbidden, .coded: true
        default: false
        }
    }

    package var description: String {
        switch self {
        case .forbidden: "The response must not be stored."
        case .coded(let file, let coding):
            "\(file) comes encoded (Content-Encoding: \(coding)), which was not asked for: parts of that are no parts of "
                + "the file."
        case .offline: "The cache is offline, so no origin is asked for what is missing."
        case .largerThanLimit(let length, let limit): "It has \(length) bytes, and the cache's limit is \(limit)."
        case .largerThanEntryLimit(let length, let limit):
            "It has \(length) bytes, and one entry may occupy \(limit)."
        case .largerThanDisk(let length, let capacity, let floor):
            (length.map { "It has \($0) bytes, and the" } ?? "The")
                + " disk is too small for it: it has \(capacity) bytes, \(floor) of which must stay free (minimumFree, and "
                + "what the index needs)."
        case .outgrown(let kept, let limit):
            "It turned out larger than the cache has room for: its limit is \(limit), of which pinned entries and downloads "
                + "occupy \(kept)."
        case .outgrownEntryLimit(let limit): "It turned out larger than the \(limit) bytes that one entry may occupy."
        case .filledByKept(let kept, let limit):
            "Pinned entries and downloads occupy \(kept) of the limit of \(limit) bytes. Raise the limit, or release some."
        case .keptEntries(let length, let kept, let limit):
            "It has \(length) bytes, and pinned entries and downloads occupy \(kept) of the limit of \(limit)."
        case .disk(let length, let free, let floor):
            "It has \(length) bytes, and \(free) are free on the disk, \(floor) of which must stay free (minimumFree, and "
                + "what the index needs)."
        case .fullDisk(let free, let floor):
            "The disk is almost full: \(free) bytes are free, and \(floor) must stay free (minimumFree, and what the "
                + "index needs). Eviction would not help enough."
        case .promised(let others, _):
            "Other downloads that are under way need \(others) bytes more, which leave no room for it: it goes on when "
                + "some of them have ended, or with more room."
        case .tag(let tag, let kept, let missing, let limit):
            "Pinned titles, downloads and kept beginnings tagged \"\(tag)\" occupy \(kept) of the limit of \(limit) bytes "
                + "for this tag" + (missing > 0 ? ", and \(missing) more are needed" : "")
                + ": release some, or raise that limit."
        case .store(let reason): reason
        }
    }

    /// Whether the representation is too large by itself, so that room which others leave to it does not help.
    package var isOfItsSize: Bool {
        switch self {
        case .largerThanLimit, .largerThanEntryLimit, .largerThanDisk, .outgrownEntryLimit: true
        case .forbidden, .coded, .offline, .outgrown, .filledByKept, .keptEntries, .disk, .fullDisk, .promised, .tag,
            .store:
            false
        }
    }

    /// The obstacle where one file finds no room, and more or less than this file is wanted.
    var withoutLength: StorageObstacle {
        switch self {
        case .disk(_, let free, let floor): .fullDisk(free: free, floor: floor)
        case .largerThanDisk(_, let capacity, let floor):
            .largerThanDisk(length: nil, capacity: capacity, floor: floor)
        case .keptEntries(_, let kept, let limit): .outgrown(kept: kept, limit: limit)
        default: self
        }
    }
}

extension Store {
    /// Why a representation of `length` bytes cannot be stored as a whole, as far as that is known in advance.
    ///
    /// `stored` bytes of it are stored already, and `isKept` says whether they are protected from eviction; `promised`
    /// bytes of the room are for others, and `arrived` ones lie on the disk already, and leave it one by one.
    func obstacle(
        toStoring length: Int64?, stored: Int64 = 0, isKept: Bool = false, promised: Int64 = 0,
        arrived: ArrivedBytes = ArrivedBytes()
    ) -> StorageObstacle? {
        if let reason = breaker.reason ?? lossReason { return .store(reason: reason) }
        guard let length else { return nil }
        if length > entryLimit { return .largerThanEntryLimit(length: length, limit: entryLimit) }
        let limit = quota.limit
        if length > limit { return .largerThanLimit(length: length, limit: limit) }
        if length > stored, let (capacity, floor) = quota.smallDisk(for: length) {
            return .largerThanDisk(length: length, capacity: capacity, floor: floor)
        }
        let kept = (try? index.retentions.retainedUsage())?.allocated ?? 0
        let others = max(0, kept - (isKept ? stored : 0))
        if length > limit - others - promised { return .keptEntries(length: length, kept: others, limit: limit) }
        // Of a complete file nothing is missing, however full the disk is.
        let missing = length - stored
        let coming = max(0, missing - arrived.sum) + min(arrived.largest, missing) + promised
        if missing > 0, let (lacking, free, floor) = quota.diskShortage(coming),
            lacking > quota.usage.allocated - others - stored
        {
            return .disk(length: length, free: free, floor: floor)
        }
        return nil
    }
}
