#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import RepriseHTTPClient
    import RepriseTesting
    @testable import RepriseAVPlayer

    /// The rules that hold in every scenario, checked as events occur.
    extension ScriptWorld {
        /// Handles an event of a request, on the thread on which it occurs.
        func observe(_ happening: AVAssetResourceLoadingRequest.Happening, _ request: ScriptRequest) {
            switch happening {
            case .data(let data, let offset): received(data, at: offset, request)
            case .finished(let error): finished(error as NSError?, request)
            }
        }

        private func received(_ data: Data, at offset: Int64, _ request: ScriptRequest) {
            let id = request.id
            if request.state.withLock({ $0.wasToldOfCancel }) { violation("I4", "\(id) got bytes after didCancel") }
            if request.state.withLock({ $0.isFinished }) { violation("I4", "\(id) got bytes after its end") }
            if let information = request.information, !information.isFilled {
                violation("I3", "\(id) got bytes before content information")
            }
            if data.count > LoadingMachine.maximumPiece { violation("I7", "\(id) got \(data.count) bytes at once") }
            if data.isEmpty { violation("I2", "\(id) got an empty piece") }
            checkInformation(request)
            let end = offset + Int64(data.count)
            let extent = request.extent(completeLength: knownLength(request))
            if offset < extent.lowerBound || end > extent.upperBound {
                violation("I2", "\(id) got \(offset)..<\(end), which is outside \(extent)")
            }
            checkBytes(data, at: offset, request)
            request.state.withLock { state in
                state.bytes += Int64(data.count)
                state.currentOffset = end
                state.largestPiece = max(state.largestPiece, data.count)
            }
            state.withLock { $0.largestPiece = max($0.largestPiece, data.count) }
        }

        /// The length given to the item's player, or the server's.
        func knownLength(_ request: ScriptRequest) -> Int64 {
            if let information = request.information, information.isFilled { return information.contentLength }
            let told = state.withLock { state in
                state.items[request.item].flatMap { $0.resource == request.resource.name ? $0.told?.length : nil }
            }
            return told ?? currentLength(of: request.resource)
        }

        /// Every byte must belong to a version, and all bytes of one asset to the same version.
        private func checkBytes(_ data: Data, at offset: Int64, _ request: ScriptRequest) {
            let resource = request.resource
            // In one step: an item that was released in between has no versions any more, which is not an error.
            let ofMain = state.withLock { state in
                state.items[request.item].flatMap { item in
                    item.resource == resource.name && !resource.isPlaylist ? item.versions : nil
                }
            }
            let candidates = ofMain ?? request.state.withLock { $0.versions }
            // A few bytes distinguish the versions; then all of them are compared.
            let sample = data.prefix(resource.head.count + 64)
            let matching = candidates.filter { version in
                sample == Data(resource.bytes(offset..<offset + Int64(sample.count), version: version))
                    && data == Data(resource.bytes(offset..<offset + Int64(data.count), version: version))
            }
            if matching.isEmpty {
                violation("I2", "\(request.id) got wrong bytes at \(offset), or those of another version")
            }
            request.state.withLock { $0.versions.formIntersection(matching) }
            guard ofMain != nil else { return }
            state.withLock { $0.items[request.item]?.versions = Set(matching) }
        }

        private func finished(_ error: NSError?, _ request: ScriptRequest) {
            let id = request.id
            if request.state.withLock({ $0.isFinished }) { violation("I4", "\(id) was finished twice") }
            if error == nil, request.state.withLock({ $0.wasToldOfCancel }) {
                violation("I4", "\(id) succeeded after didCancel")
            }
            let isRedirect = request.request?.redirect != nil
            if error == nil, !isRedirect {
                if let information = request.information, !information.isFilled {
                    violation("I3", "\(id) finished without content information")
                }
                checkInformation(request)
                let extent = request.extent(completeLength: knownLength(request))
                let bytes = request.state.withLock { $0.bytes }
                if bytes != extent.upperBound - extent.lowerBound {
                    violation("I5", "\(id) succeeded with \(bytes) bytes of \(extent)")
                }
            }
            if let error, error.domain != NSURLErrorDomain { violation("I5", "\(id) failed with \(error)") }
            let others = state.withLock { $0.requests }.mapValues { other in other.state.withLock { $0.bytes } }
            let now = ticks
            request.state.withLock { state in
                state.isFinished = true
                state.error = error
                state.finishTick = now
                state.bytesOfOthers = others
            }
        }

        /// I6 and I8.
        func checkInformation(_ request: ScriptRequest) {
            guard let information = request.information, information.isFilled else { return }
            let id = request.id
            if let type = information.contentType {
                if !Self.declaredTypes.contains(type) { violation("I6", "\(id) was told the type \(type)") }
            } else if request.resource.uti != nil {
                violation("I6", "\(id) was told no type")
            }
            if let allowed = information.allowedContentTypes, !allowed.isEmpty,
                !allowed.contains(information.contentType ?? "")
            {
                violation("I6", "\(id) was told \(information.contentType ?? "no type"), which is not allowed")
            }
            let told = Told(
                length: information.contentLength, type: information.contentType,
                byteRange: information.isByteRangeAccessSupported)
            let earlier = state.withLock { state -> Told? in
                guard let item = state.items[request.item], item.resource == request.resource.name else { return nil }
                if item.told == nil { state.items[request.item]?.told = told }
                return item.told
            }
            if let earlier, earlier != told, !request.resource.isPlaylist {
                violation("I8", "\(id) was told \(told) after \(earlier)")
            }
        }

        private static let declaredTypes = Set(ContentType.byMediaType.values)
            .union(ContentType.byExtension.values).union(ContentType.parents.keys)

        /// Ends everything, and checks that nothing remains (I10).
        func tearDown(isComplete: Bool) async {
            for name in state.withLock({ $0.items.keys.sorted() }) { await release(name, callbacks: false) }
            network.shutdown()
            await settle()
            await closeCache()
            // Timers of released objects end with their tasks; the engine's end with the clock.
            clock.advance(by: .seconds(600))
            await settle()
            await client.shutdown()
            await origin.waitUntil { $0.openConnections == 0 }
            await origin.stop()
            for message in Exceptions.take() { violation("exception", message) }
            if isComplete { checkNothingIsLeft() }
            directory.remove()
        }

        private func checkNothingIsLeft() {
            for watched in state.withLock({ $0.watched }) where watched.isAlive() {
                violation("I10", "\(watched.what) of \(watched.item) is left")
            }
            if network.openExchanges > 0 { violation("I10", "\(network.openExchanges) connections are left") }
            let files = openFiles().filter { $0.hasPrefix(directory.path) }
            if !files.isEmpty { violation("I10", "files are left open: \(files)") }
        }

        private func openFiles() -> [String] {
            let table = "/proc/self/fd"
            guard let names = try? FileManager.default.contentsOfDirectory(atPath: table) else { return [] }
            return names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "\(table)/\($0)") }
        }
    }
#endif
