public import Dispatch
public import Foundation
import Primitives

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#endif

/// Answers requests that an asset cannot load by itself.
///
/// Optional methods of the Objective-C protocol are methods with default implementations here.
public protocol AVAssetResourceLoaderDelegate: NSObjectProtocol {
    /// Whether the delegate will answer `loadingRequest`, now or later.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool
    /// Whether the delegate will renew the information.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool
    /// Reports that the request was canceled.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest)
    /// Whether the delegate will answer the challenge.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForResponseTo authenticationChallenge: URLAuthenticationChallenge
    ) -> Bool
    /// Reports that the challenge was canceled.
    func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel authenticationChallenge: URLAuthenticationChallenge)
}

extension AVAssetResourceLoaderDelegate {
    /// False: loading fails.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
    ) -> Bool { false }
    /// False: nothing is renewed.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForRenewalOfRequestedResource renewalRequest: AVAssetResourceRenewalRequest
    ) -> Bool { false }
    /// Does nothing.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
    ) {}
    /// False: the system handles the challenge.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader,
        shouldWaitForResponseTo authenticationChallenge: URLAuthenticationChallenge
    ) -> Bool { false }
    /// Does nothing.
    public func resourceLoader(
        _ resourceLoader: AVAssetResourceLoader, didCancel authenticationChallenge: URLAuthenticationChallenge
    ) {}
}

/// Sends an asset's loading requests to its delegate.
public final class AVAssetResourceLoader: NSObject, @unchecked Sendable, AssociationHolder {
    private struct State {
        weak var delegate: (any AVAssetResourceLoaderDelegate)?
        var queue: DispatchQueue?
        var sendsCommonMediaClientData = false
        var preloadsEligibleContentKeys = false
        var declined: [URL] = []
    }

    // The mutex guards the only state that changes.
    private let state = Mutex(State())
    let associations = Associations()

    override init() {}

    /// Sets the delegate, which is retained weakly, and the queue on which it is called.
    public func setDelegate(_ delegate: (any AVAssetResourceLoaderDelegate)?, queue delegateQueue: DispatchQueue?) {
        if delegate != nil, delegateQueue == nil { Exceptions.raise("A delegate needs a queue.") }
        let box = DelegateBox(delegate: delegate)
        state.withLock { state in
            state.delegate = box.delegate
            state.queue = delegateQueue
        }
    }

    /// The delegate, while it lives.
    public var delegate: (any AVAssetResourceLoaderDelegate)? {
        state.withLock { DelegateBox(delegate: $0.delegate) }.delegate
    }
    /// The queue on which the delegate is called.
    public var delegateQueue: DispatchQueue? { state.withLock { $0.queue } }
    /// Whether common media client data is sent as header fields.
    public var sendsCommonMediaClientDataAsHTTPHeaders: Bool {
        get { state.withLock { $0.sendsCommonMediaClientData } }
        set { state.withLock { $0.sendsCommonMediaClientData = newValue } }
    }

    /// Whether eligible content keys are loaded ahead of time.
    public var preloadsEligibleContentKeys: Bool {
        get { state.withLock { $0.preloadsEligibleContentKeys } }
        set { state.withLock { $0.preloadsEligibleContentKeys = newValue } }
    }

    // MARK: - Actions of the player

    /// Sends a request on the delegate's queue and returns the delegate's answer: whether it will load.
    ///
    /// `nil` if there is no delegate to answer.
    package func load(_ request: AVAssetResourceLoadingRequest) async -> Bool? {
        guard let queue = delegateQueue else { return nil }
        request.setLoader(self)
        return await withCheckedContinuation { continuation in
            queue.async {
                let answer = self.delegate?.resourceLoader(self, shouldWaitForLoadingOfRequestedResource: request)
                continuation.resume(returning: answer)
            }
        }
    }

    /// URLs of redirects that the delegate left to the player.
    package var declined: [URL] { state.withLock { $0.declined } }

    /// Follows a redirect: asks the delegate for that URL as well, as iOS 26 does.
    ///
    /// A delegate that accepts it has sent the player in a circle.
    func follow(_ redirect: URLRequest) {
        guard let queue = delegateQueue, let url = redirect.url else { return }
        queue.async { [weak self] in
            guard let self, let delegate = self.delegate else { return }
            let request = AVAssetResourceLoadingRequest(request: redirect, information: nil, data: nil) { _ in }
            if delegate.resourceLoader(self, shouldWaitForLoadingOfRequestedResource: request) {
                Exceptions.raise("The delegate takes \(url), to which it has redirected.")
            } else {
                state.withLock { $0.declined.append(url) }
            }
        }
    }

    /// Cancels a request; if `callback` is true, calls the delegate, with `before` and `after` around it on its queue.
    package func cancel(
        _ request: AVAssetResourceLoadingRequest, callback: Bool, before: @escaping @Sendable () -> Void = {},
        after: @escaping @Sendable () -> Void = {}
    ) async {
        guard callback, let queue = delegateQueue else { return request.markCanceled() }
        await withCheckedContinuation { continuation in
            queue.async {
                request.markCanceled()
                before()
                self.delegate?.resourceLoader(self, didCancel: request)
                after()
                continuation.resume()
            }
        }
    }
}

/// Carries a delegate through a lock; the delegate is called on its own queue only.
private struct DelegateBox: @unchecked Sendable {
    let delegate: (any AVAssetResourceLoaderDelegate)?
}
