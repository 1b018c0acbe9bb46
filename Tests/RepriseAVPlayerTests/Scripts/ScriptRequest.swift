#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives

    /// The progress of one loading request.
    final class ScriptRequest: Sendable {
        struct State: Sendable {
            var bytes: Int64 = 0
            var largestPiece = 0
            var isFinished = false
            var error: NSError?
            var finishTick: Int64 = 0
            /// How much every request had received when this one finished.
            var bytesOfOthers: [String: Int64] = [:]
            /// Whether the player has canceled the request, and whether the delegate was called.
            var isCancelled = false
            var wasToldOfCancel = false
            var currentOffset: Int64
            /// The maximum number of bytes that a step waited for.
            var waitedFor: Int64 = 0
            /// Versions of the file that match all bytes so far.
            var versions: Set<Int64>
        }

        let id: String
        let item: String
        let resource: ScriptResource
        let arrivalTick: Int64
        let offset: Int64?
        let length: Int
        let reachesEnd: Bool
        let information: AVAssetResourceLoadingContentInformationRequest?
        let state: Mutex<State>
        private let held = Mutex<AVAssetResourceLoadingRequest?>(nil)

        init(
            id: String, item: String, resource: ScriptResource, arrivalTick: Int64, offset: Int64?, length: Int,
            reachesEnd: Bool, information: AVAssetResourceLoadingContentInformationRequest?, versions: Set<Int64>
        ) {
            self.id = id
            self.item = item
            self.resource = resource
            self.arrivalTick = arrivalTick
            self.offset = offset
            self.length = length
            self.reachesEnd = reachesEnd
            self.information = information
            state = Mutex(State(currentOffset: offset ?? 0, versions: versions))
        }

        /// AVFoundation's object, released when the player releases it.
        var request: AVAssetResourceLoadingRequest? {
            get { held.withLock { $0 } }
            set { held.withLock { $0 = newValue } }
        }

        var isOver: Bool { state.withLock { $0.isFinished || $0.isCancelled } }

        /// The part of the requested bytes that exists.
        func extent(completeLength: Int64) -> Range<Int64> {
            guard let offset else { return 0..<0 }
            let start = min(offset, completeLength)
            if reachesEnd { return start..<completeLength }
            let (end, overflow) = start.addingReportingOverflow(Int64(length))
            return start..<min(overflow ? .max : end, completeLength)
        }
    }
#endif
