public import Foundation
import Locks

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// What a request for content information wants to know.
public final class AVAssetResourceLoadingContentInformationRequest: NSObject, @unchecked Sendable {
    // The state lies behind a mutex: that makes the class safe to share.
    private let state: Mutex<InformationState>

    package init(allowedContentTypes: [String]?) {
        state = Mutex(InformationState(allowedContentTypes: allowedContentTypes))
    }

    /// The uniform type identifier; a type outside ``allowedContentTypes`` raises when loading finishes.
    public var contentType: String? {
        get { state.withLock { $0.contentType } }
        set { state.withLock { $0.contentType = newValue } }
    }
    /// The types that the requestor accepts, if it says.
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
    /// Whether parts can be asked for.
    public var isByteRangeAccessSupported: Bool {
        get { state.withLock { $0.isByteRangeAccessSupported } }
        set { state.withLock { $0.isByteRangeAccessSupported = newValue } }
    }
    /// When the information is to be asked for anew.
    public var renewalDate: Date? {
        get { state.withLock { $0.renewalDate } }
        set { state.withLock { $0.renewalDate = newValue } }
    }
    /// Whether everything can be given at once.
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

/// The bytes that a loading request wants.
public final class AVAssetResourceLoadingDataRequest: NSObject, @unchecked Sendable {
    /// First byte.
    public let requestedOffset: Int64
    /// Number of bytes; `Int.max` where the length is not known yet.
    public let requestedLength: Int
    /// Whether everything up to the end is wanted, whatever ``requestedLength`` says.
    public let requestsAllDataToEndOfResource: Bool
    // Guarded by its mutex, which is all that changes here.
    private let position: Mutex<Int64>
    fileprivate let onData = Mutex<(@Sendable (Data, Int64) -> Void)?>(nil)

    package init(offset: Int64, length: Int, toEnd: Bool) {
        requestedOffset = offset
        requestedLength = length
        requestsAllDataToEndOfResource = toEnd
        position = Mutex(offset)
    }

    /// The byte that ``respond(with:)`` gives next.
    public var currentOffset: Int64 { position.withLock { $0 } }

    /// Gives the next bytes.
    public func respond(with data: Data) {
        let offset = position.withLock { position in
            defer { position += Int64(data.count) }
            return position
        }
        onData.withLock { $0 }?(data, offset)
    }
}

/// A request that the delegate answers.
public class AVAssetResourceLoadingRequest: NSObject, @unchecked Sendable {
    /// What happens to a request, told to the stand-in's player as it happens.
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

    /// The URL that is asked for.
    public let request: URLRequest
    /// Content information, if it is wanted.
    public let contentInformationRequest: AVAssetResourceLoadingContentInformationRequest?
    /// Bytes, if they are wanted.
    public let dataRequest: AVAssetResourceLoadingDataRequest?
    /// Who wants it.
    public let requestor = AVAssetResourceLoadingRequestor()
    // Guarded by its mutex, which is all that changes here.
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
    /// Whether the player has given the request up; true just before the delegate is told.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }
    /// A response that the player is to see, for redirects.
    public var response: URLResponse? {
        get { state.withLock { Carried($0.response) }.value }
        set {
            let carried = Carried(newValue)
            state.withLock { $0.response = carried.value }
        }
    }
    /// Where the player shall load instead; http only.
    public var redirect: URLRequest? {
        get { state.withLock { $0.redirect } }
        set { state.withLock { $0.redirect = newValue } }
    }

    /// All that was wanted was given.
    public func finishLoading() {
        if let information = contentInformationRequest, let type = information.contentType,
            let allowed = information.allowedContentTypes, !allowed.isEmpty, !allowed.contains(type)
        {
            Exceptions.raise("Must respond with a contentType contained in allowedContentTypes, not \(type).")
        }
        finish(nil)
    }

    /// Loading failed.
    ///
    /// On its way to the player's process the error loses its user information.
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

    /// The player gives the request up.
    package func markCancelled() { state.withLock { $0.isCancelled = true } }
}

/// Who makes a loading request.
public final class AVAssetResourceLoadingRequestor: NSObject, Sendable {
    /// Whether reports of expired sessions come with it.
    public var providesExpiredSessionReports: Bool { false }
}

/// A response on its way through a lock; responses are immutable.
private struct Carried: @unchecked Sendable {
    let value: URLResponse?
    init(_ value: URLResponse?) { self.value = value }
}

/// Asks for content information anew.
public class AVAssetResourceRenewalRequest: AVAssetResourceLoadingRequest, @unchecked Sendable {}
