import Primitives
import Reprise

/// The region that a connection is currently passing to the kernel, if any.
///
/// If the file was truncated, `sendfile` sends nothing, again and again; only checking the file reveals that.
final class RegionOnItsWay: Sendable {
    private let region = Mutex<StoredRegion?>(nil)

    func set(_ region: StoredRegion?) { self.region.withLock { $0 = region } }

    /// Whether the file no longer reaches the region's end.
    func isCutOff() -> Bool { region.withLock { $0 }?.isCutOff() ?? false }
}
