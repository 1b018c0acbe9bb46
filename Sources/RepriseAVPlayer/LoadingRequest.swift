import Foundation

/// AVFoundation's loading request as the portable part sees it.
///
/// Everything is called on the loader's queue.
protocol LoadingRequest: AnyObject, Sendable {
    var wantsInformation: Bool { get }
    var extent: LoadingExtent? { get }
    /// Whether the player has given it up, which it does a moment before it says so, or without saying so.
    var isCancelled: Bool { get }
    /// What the content type must be one of; empty for no demand.
    var allowedContentTypes: [String] { get }

    /// Fills in the content information.
    func fill(_ information: AssetInformation, contentType: String?)
    func respond(with data: Data)
    func finish()
    func finish(with error: NSError)
}

/// What the player is told about an asset, once and for all.
struct AssetInformation: Sendable {
    let completeLength: Int64
    /// `nil` where nothing tells; AVFoundation then judges by itself.
    let contentType: ContentType?
    /// Everything is on disk: the player may skip its own read-ahead.
    let isEntirelyStored: Bool
    /// Which representation this is; every read is checked against it.
    let representation: Representation
}
