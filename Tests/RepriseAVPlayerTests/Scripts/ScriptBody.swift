#if REPRISE_AVFOUNDATION_STAND_IN
    import Primitives
    import Reprise
    import RepriseTesting

    /// A body whose chunks arrive one a tick.
    final class ScriptBody: OriginBody {
        private struct State: Sendable {
            var buffer: [UInt8] = []
            var isAtEnd = false
            var position: Int64
            var delivered: Int64 = 0
            var next: ManualClock.Instant
            var isCancelled = false
            var sleep: Task<Void, Never>?
        }

        private let body: any OriginBody
        private let network: ScriptNetwork
        private let exchange: Int
        /// `nil`: no pace.
        private let server: ScriptServer?
        private let isCounted: Bool
        private let state: Mutex<State>

        init(
            _ body: any OriginBody, network: ScriptNetwork, exchange: Int, server: ScriptServer?, counted start: Int64?
        ) {
            self.body = body
            self.network = network
            self.exchange = exchange
            self.server = server
            isCounted = start != nil
            state = Mutex(State(position: start ?? 0, next: network.clock.now))
        }

        deinit { network.close(exchange) }

        func cancel() {
            let sleep = state.withLock { state in
                state.isCancelled = true
                return state.sleep
            }
            body.cancel()
            network.close(exchange)
            sleep?.cancel()
        }

        func next() async throws -> (any ByteChunk)? {
            guard let server else {
                let chunk = try await network.real { try await self.body.next() }
                if let chunk { count(chunk.count) }
                return chunk
            }
            do {
                return try await paced(server)
            } catch {
                body.cancel()
                network.close(exchange)
                throw error
            }
        }

        private func paced(_ server: ScriptServer) async throws -> (any ByteChunk)? {
            try await waitForTick()
            if state.withLock({ $0.isCancelled }) { return nil }
            try Task.checkCancellation()
            try network.checkOnline()
            let delivered = state.withLock { $0.delivered }
            if let limit = server.failAfterBytes, delivered >= limit {
                throw ScriptNetwork.failure(server.failWith ?? -1005)
            }
            if let limit = server.hangAfterBytes, delivered >= limit {
                try await network.stall(exchange)
                return nil
            }
            var size = delivered == 0 ? server.firstChunk ?? server.chunk : server.chunk
            for limit in [server.failAfterBytes, server.hangAfterBytes].compactMap(\.self) {
                size = min(size, Int(limit - delivered))
            }
            let chunk = try await fill(size)
            guard !chunk.isEmpty else {
                network.close(exchange)
                return nil
            }
            if state.withLock({ $0.isCancelled }) { return nil }
            count(chunk.count)
            let now = network.clock.now
            state.withLock { state in
                state.delivered += Int64(chunk.count)
                state.next = max(state.next, now).advanced(by: ScriptNetwork.tick)
            }
            return chunk
        }

        private func count(_ bytes: Int) {
            guard isCounted else { return }
            let range = state.withLock { state in
                defer { state.position += Int64(bytes) }
                return state.position..<state.position + Int64(bytes)
            }
            network.arrived(range, in: exchange)
        }

        private func waitForTick() async throws {
            let deadline = state.withLock { $0.next }
            guard deadline > network.clock.now else { return }
            let sleep = Task { [clock = network.clock] in
                // Canceled with the body: then the wait is over.
                _ = try? await clock.sleep(until: deadline)
            }
            let isCancelled = state.withLock { state in
                state.sleep = sleep
                return state.isCancelled
            }
            if isCancelled { sleep.cancel() }
            await withTaskCancellationHandler {
                await sleep.value
            } onCancel: {
                sleep.cancel()
            }
        }

        /// Up to `size` bytes from the socket, fewer only at the end.
        private func fill(_ size: Int) async throws -> [UInt8] {
            while state.withLock({ $0.buffer.count < size && !$0.isAtEnd }) {
                let more = try await network.real { try await self.body.next() }
                state.withLock { state in
                    if let more {
                        more.withUnsafeBytes { state.buffer.append(contentsOf: $0) }
                    } else {
                        state.isAtEnd = true
                    }
                }
            }
            return state.withLock { state in
                let chunk = Array(state.buffer.prefix(size))
                state.buffer.removeFirst(chunk.count)
                return chunk
            }
        }
    }
#endif
