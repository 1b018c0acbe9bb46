public import Foundation
import Primitives

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// A request for content information.
public final class AVAssetResourceLoadingContentInformationRequest: NSObject, @unchecked Sendable {
    // The mutex guards the state, which makes the class safe to share.
    private let state: Mutex<InformationState>

    package init(allowedContentTypes: [String]?) {
        state = Mutex(InformationState(allowedContentTypes: allowedContentTypes))
    }

    /// The uniform type identifier; a type outside ``allowedContentTypes`` raises when loading finishes.
    public var contentType: String? {
        get { state.withLock { $0.contentType } }
        set { state.withLock { $0.contentType = newValue } }
    }
    /// The types that the requestor accepts, if specified.
    public var allowedContentTypes: [String]? { state.withLock { $0.allowedContentTypes } }
    /// Complete length in bytes.
    public var contentLength: Int64 {
        get { state.withLock { $0.contentLength } }
        set {
            state.withLock { state in
                state.contentLength = newValue
                state.isLengthSet = true
            }
        }
    }
    /// Whether byte ranges can be requested.
    public var isByteRangeAccessSupported: Bool {
        get { state.withLock { $0.isByteRangeAccessSupported } }
        set { state.withLock { $0.isByteRangeAccessSupported = newValue } }
    }
    /// When the information has to be renewed.
    public var renewalDate: Date? {
        get { state.withLock { $0.renewalDate } }
        set { state.withLock { $0.renewalDate = newValue } }
    }
    /// Whether all bytes are available at once.
    public var isEntireLengthAvailableOnDemand: Bool {
        get { state.withLock { $0.isEntireLengthAvailableOnDemand } }
        set { state.withLock { $0.isEntireLengthAvailableOnDemand = newValue } }
    }

    /// Whether the length has been filled in.
    package var isFilled: Bool { state.withLock { $0.isLengthSet } }
}

private struct InformationState: Sendable {
    let allowedContentTypes: [String]?
    var contentType: String?
    var contentLength: Int64 = 0
    var isLengthSet = false
    var isByteRangeAccessSupported = false
    var renewalDate: Date?
    var isEntireLengthAvailableOnDemand = false
}

/// The bytes requested by a loading request.
public final class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
    /// First byte.
    public let requestedOffset: Int64
    /// Number of bytes; `Int.max` if the length is not known yet.
    public let requestedLength: Int
    /// Whether everything up to the end is requested, regardless of ``requestedLength``.
    public let requestsAllDataToEndOfResource: Bool
    // The mutex guards the only state that changes.
    private let position: Mutex<Int64>
    fileprivate let onData = Mutex<(@Sendable (Data, Int64) -> Void)?>(nil)

    package init(offset: Int64, length: Int, toEnd: Bool) {
        requestedOffset = offset
        requestedLength = length
        requestsAllDataToEndOfResource = toEnd
        position = Mutex(offset)
    }

    /// The offset of the next byte that ``respond(with:)`` delivers.
    public var currentOffset: Int64 { position.withLock { $0 } }

    /// Delivers the next bytes.
    public func respond(with data: Data) {
        let offset = position.withLock { position in
            defer { position += Int64(data.count) }
            return position
        }
        onData.withLock { $0 }?(data, offset)
    }
}

/// A request for the delegate to answer.
public class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
    /// An event of a request, reported to the stand-in's player.
    package enum Happening: Sendable {
        case data(Data, offset: Int64)
        case finished((any Error)?)
    }

    private struct State {
        var isFinished = false
        var isCancelled = false
        var response: URLResponse?
        var redirect: URLRequest?
        var observer: (@Sendable (Happening) -> Void)?
        weak var loader: AVAssetResourceLoader?
    }

    /// The requested URL.
    public let request: URLRequest
    /// The request for content information, if any.
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    /// The request for bytes, if any.
    public let dataRequest: AVAssetResourceLoadingDataRequest?
    /// The requestor.
    public let requestor = AVAssetResourceLoadingRequestor()
    // The mutex guards the only state that changes.
    private let state = Mutex(State())

    package init(
        request: URLRequest, information: AVAssetResourceLoadingContentInformationRequest?,
        data: AVAssetResourceLoadingDataRequest?, observer: @escaping @Sendable (Happening) -> Void
    ) {
        self.request = request
        contentInformationRequest = information
        dataRequest = data
        super.init()
        state.withLock { $0.observer = observer }
        data?.onData.withLock { slot in slot = { observer(.data($0, offset: $1)) } }
    }

    /// Whether one of the finish methods was called.
    public var isFinished: Bool { state.withLock { $0.isFinished } }
    /// Whether the player canceled the request; true just before the delegate is called.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// A response for the player to see, for redirects.
    public var response: URLResponse? {
        get { state.withLock { Carried($0.response) }.value }
        set {
            let carried = Carried(newValue)
            state.withLock { $0.response = carried.value }
        }
    }
    /// The URL to load instead; http only.
    public var redirect: URLRequest? {
        get { state.withLock { $0.redirect } }
        set { state.withLock { $0.redirect = newValue } }
    }

    /// Finishes successfully.
    public func finishLoading() {
        if let information = contentInformationRequest, let type = information.contentType,
            let allowed = information.allowedContentTypes, !allowed.isEmpty, !allowed.contains(type)
        {
            Exceptions.raise("Must respond with a contentType contained in allowedContentTypes, not \(type).")
        }
        finish(nil)
    }

    /// Finishes with an error.
    ///
    /// The error loses its user information on its way to the player's process.
    public func finishLoading(with error: (any Error)?) {
        if let error = error as NSError?, error.code == 0 {
            Exceptions.raise("An error's code must not be 0: \(error)")
        }
        let given = (error ?? URLError(.unknown)) as NSError
        finish(NSError(domain: given.domain, code: given.code))
    }

    private func finish(_ error: (any Error)?) {
        let (observer, isSecond, loader, redirect) = state.withLock { state in
            defer { state.isFinished = true }
            return (state.observer, state.isFinished, state.loader, state.redirect)
        }
        if isSecond { Exceptions.raise("A loading request cannot be finished twice.") }
        observer?(.finished(error))
        if error == nil, let redirect { loader?.follow(redirect) }
    }

    func setLoader(_ loader: AVAssetResourceLoader) { state.withLock { $0.loader = loader } }

    /// Marks the request as canceled by the player.
    package func markCanceled() { state.withLock { $0.isCancelled = true } }
}

/// The originator of a loading request.
public final class AVAssetResourceLoadingRequestor: NSObject, Sendable {
    /// Whether it provides reports of expired sessions.
    public var providesExpiredSessionReports: Bool { false }
}

/// Carries a response through a lock; responses are immutable.
private struct Carried: @unchecked Sendable {
    let value: URLResponse?
    init(_ value: URLResponse?) { self.value = value }
}

/// A request to renew content information.
public class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {}
