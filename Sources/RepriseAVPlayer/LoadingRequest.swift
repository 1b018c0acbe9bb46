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
