#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import RepriseTesting

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// The rules of the callbacks themselves: none blocks (I1), and none for a finished request has an effect (I9).
    extension ScriptWorld {
        /// Makes a callback while the world's time stands still, so that one that waits for time does not return (I1).
        ///
        /// Only bytes that are due arrive. Once a callback is known to wait, time advances, so that it returns after
        /// all.
        func watching<Value: Sendable>(_ id: String, _ callback: @Sendable () async -> Value) async -> Value {
            let watchdog = Task { [self] in
                do { try await ContinuousClock().sleep(for: callbackLimit) } catch { return }
                violation("I1", "a callback for \(id) blocks the loader's queue")
                while !Task.isCancelled {
                    clock.advance(by: ScriptNetwork.tick)
                    await Task.yield()
                }
            }
            let value = await callback()
            watchdog.cancel()
            await watchdog.value
            return value
        }

        /// The outcome of a request so far.
        private struct Outcome: Sendable, Equatable {
            let bytes: Int64
            let isFinished: Bool
            /// The object: equality of errors asks what is under them, which need not be comparable.
            let error: ObjectIdentifier?
        }

        private var outcomes: [String: Outcome] {
            state.withLock { $0.requests }.mapValues { request in
                request.state.withLock { state in
                    Outcome(
                        bytes: state.bytes, isFinished: state.isFinished,
                        error: state.error.map { ObjectIdentifier($0) })
                }
            }
        }

        /// Cancels a request that has ended for the loader, or never belonged to it; no other request may suffer (I9).
        func cancelUnknown(
            _ object: AVAssetResourceLoadingRequest, _ id: String, at loader: AVAssetResourceLoader, callback: Bool
        ) async {
            let before = Mutex<[String: Outcome]>([:])
            await watching(id) {
                await loader.cancel(object, callback: callback) { [self] in
                    before.withLock { $0 = outcomes }
                } after: { [self] in
                    let now = outcomes
                    let changed = before.withLock { $0 }.filter { now[$0.key] != $0.value }.keys.sorted()
                    if !changed.isEmpty { violation("I9", "didCancel for \(id), which was over, changed \(changed)") }
                }
            }
        }

        /// Cancels a request at an item's loader that never received it; that must not be answered either (I9).
        func cancelStranger(of item: String, url: URL) async {
            guard let loader = state.withLock({ $0.items[item]?.loader }) else { return }
            let stranger = AVAssetResourceLoadingRequest(
                request: URLRequest(url: url), information: nil, data: nil
            ) { [weak self] _ in self?.violation("I9", "a request that the loader never got was answered") }
            await cancelUnknown(stranger, "a stranger", at: loader, callback: true)
        }
    }
#endif
