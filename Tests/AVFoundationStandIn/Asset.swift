public import Foundation
import Primitives

/// A piece of media; not shareable, except for assets at URLs.
public class AVAsset: NSObject, AssociationHolder {
    let associations = Associations()
    override init() {}
}

/// Media at a URL.
public class AVURLAsset: AVAsset, @unchecked Sendable {
    /// The URL.
    public let url: URL
    /// Asks the delegate for resources that the asset cannot load itself.
    public let resourceLoader = AVAssetResourceLoader()
    // Immutable; the values are property-list types.
    package let options: [String: Any]

    /// Creates an asset.
    public init(url URL: URL, options: [String: Any]? = nil) {
        url = URL
        self.options = options ?? [:]
    }

    /// Creates an asset.
    public convenience init(url: URL) { self.init(url: url, options: nil) }
}

/// Whether expensive networks may be used.
public let AVURLAssetAllowsExpensiveNetworkAccessKey = "AVURLAssetAllowsExpensiveNetworkAccessKey"
/// Whether networks in Low Data Mode may be used.
public let AVURLAssetAllowsConstrainedNetworkAccessKey = "AVURLAssetAllowsConstrainedNetworkAccessKey"
