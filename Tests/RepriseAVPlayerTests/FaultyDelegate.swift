#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation

    /// A loader with one defect.
    final class FaultyDelegate: NSObject, AVAssetResourceLoaderDelegate, Sendable {
        let answer: @Sendable (AVAssetResourceLoadingRequest) -> Bool
        let canceled: @Sendable (AVAssetResourceLoadingRequest) -> Void

        init(
            canceled: @escaping @Sendable (AVAssetResourceLoadingRequest) -> Void = { _ in },
            answer: @escaping @Sendable (AVAssetResourceLoadingRequest) -> Bool
        ) {
            self.answer = answer
            self.canceled = canceled
        }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader,
            shouldWaitForLoadingOfRequestedResource loadingRequest: AVAssetResourceLoadingRequest
        ) -> Bool { answer(loadingRequest) }

        func resourceLoader(
            _ resourceLoader: AVAssetResourceLoader, didCancel loadingRequest: AVAssetResourceLoadingRequest
        ) { canceled(loadingRequest) }
    }
#endif
