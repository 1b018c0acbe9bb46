import Locks
import Reprise

/// The region that a connection hands to the kernel at the moment, if it does.
///
/// `sendfile` sends nothing, again and again, where a file was cut off: only a look at the file shows that.
final class RegionOnItsWay: Sendable {
    private let region = Mutex<StoredRegion?>(nil)

    func set(_ region: StoredRegion?) { self.region.withLock { $0 = region } }

    /// Whether the file no longer reaches to the region's end; its bytes are a hole from then on.
    func isCutOff() -> Bool {
        guard let region = region.withLock({ $0 }), !region.isPresent else { return false }
        region.reportUnreadable()
        return true
    }
}
