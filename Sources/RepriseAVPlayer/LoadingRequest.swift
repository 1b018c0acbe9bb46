import Foundation

/// AVFoundation's loading request as seen by the portable part.
///
/// All members are used on the loader's queue.
protocol LoadingRequest: AnyObject, Sendable {
    var wantsInformation: Bool { get }
    var extent: LoadingExtent? { get }
    /// Whether the player has canceled it, which may be true before the callback arrives, or without one.
    var isCancelled: Bool { get }
    /// The accepted content types; empty for any.
    var allowedContentTypes: [String] { get }

    /// Fills in the content information.
    func fill(_ information: AssetInformation, contentType: String?)
    func respond(with data: Data)
    func finish()
    func finish(with error: NSError)
}

/// The information given to the player about an asset, once and for all.
struct AssetInformation: Sendable {
    let completeLength: Int64
    /// `nil` if unknown; AVFoundation then decides by itself.
    let contentType: ContentType?
    /// Whether everything is on disk, so that the player may skip its own read-ahead.
    let isEntirelyStored: Bool
    /// The representation that every read is checked against.
    let representation: Representation
}

/// The bytes requested by a loading request, in AVFoundation's terms.
struct LoadingExtent: Sendable, Equatable {
    /// First byte.
    var offset: Int64
    /// Number of bytes; `Int.max` if AVFoundation does not know the length yet.
    var length: Int
    /// Whether everything up to the end is requested; ``length`` then has no meaning.
    var reachesEnd: Bool

    /// The part of it that exists in a resource of `completeLength` bytes; empty at and beyond the end.
    ///
    /// Saturates, because an offset plus `Int.max` must not trap.
    func clipped(to completeLength: Int64) -> Range<Int64> {
        let start = min(max(offset, 0), completeLength)
        guard !reachesEnd else { return start..<completeLength }
        let (end, overflow) = start.addingReportingOverflow(Int64(max(length, 0)))
        return start..<min(overflow ? .max : end, completeLength)
    }
}
