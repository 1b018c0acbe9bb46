#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import RepriseTesting
    @testable import RepriseAVPlayer

    /// A player that does what AVPlayer might do, in any order.
    ///
    /// Its actions depend on its generator alone, and on nothing else but the answers that it waits for.
    struct RandomPlayer {
        let world: ScriptWorld
        let round: Int
        var generator: SeededGenerator
        private var item = ""
        private var resource: ScriptResource
        private var open: [ScriptRequest] = []
        private var position: Int64 = 0
        private var count = 0

        init(_ world: ScriptWorld, round: Int, seed: UInt64) {
            self.world = world
            self.round = round
            generator = SeededGenerator(seed: seed)
            let names = world.resources.keys.sorted()
            resource =
                world.resources[names[Int(seed % UInt64(names.count))]]
                ?? world.resources.values[world.resources.values.startIndex]
        }

        /// Plays a while, then everything from the beginning; returns the problems.
        mutating func play() async throws -> [String] {
            try await switchItem()
            for _ in 0..<Int.random(in: 5...25, using: &generator) { try await act() }
            world.network.setOffline(false)
            await leave()
            return try await playAll()
        }

        private mutating func act() async throws {
            switch Int.random(in: 0..<100, using: &generator) {
            case 0..<30: try await goOn()
            case 30..<45: try await seek()
            case 45..<58: try await runAhead()
            case 58..<63: try await odd()
            case 63..<75: await pass(Int.random(in: 0...40, using: &generator))
            case 75..<83: await cancelOne()
            case 83..<88: try await switchItem()
            case 88..<92: await cutNetwork()
            default: await read(Int64.random(in: 1...200_000, using: &generator))
            }
        }

        private mutating func send(_ offset: Int64?, _ length: Int, toEnd: Bool, information: Bool = false) async throws
        {
            count += 1
            let request = ScriptRequest(
                id: "\(round).\(count)", item: item, resource: resource, arrivalTick: world.ticks, offset: offset,
                length: length, reachesEnd: toEnd,
                information: information
                    ? AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil) : nil,
                versions: [1])
            open.append(request)
            try await world.send(request, url: world.loaderURL(of: resource))
        }

        private var last: ScriptRequest? { open.last { !$0.isOver } }

        private func pass(_ ticks: Int) async { for _ in 0..<ticks { await world.tick() } }

        /// Waits until the newest request has this many bytes, has ended, or has taken too long.
        private mutating func read(_ bytes: Int64) async {
            guard let request = last else { return }
            _ = await world.wait(limit: 300) { request.isOver || request.state.withLock { $0.bytes >= bytes } }
            position = request.state.withLock { $0.currentOffset }
        }

        /// The usual: ask for the rest, take some, cancel; the cancellation before the next request, after it, or
        /// never.
        private mutating func goOn() async throws {
            let previous = last
            let isCancelledFirst = Bool.random(using: &generator)
            if isCancelledFirst, let previous { await cancel(previous) }
            try await send(position, Int(clamping: max(resource.length - position, 0)), toEnd: true)
            if !isCancelledFirst, let previous, Int.random(in: 0..<4, using: &generator) > 0 { await cancel(previous) }
            await read(Int64.random(in: 1...300_000, using: &generator))
        }

        private mutating func seek() async throws {
            position = Int64.random(in: 0...resource.length, using: &generator)
            if Bool.random(using: &generator) { position &= ~65_535 }
            try await goOn()
        }

        private mutating func runAhead() async throws {
            let start = (position + Int64.random(in: 0...262_144, using: &generator)) & ~65_535
            try await send(
                start, Bool.random(using: &generator) ? 65_536 : Int.random(in: 1...200_000, using: &generator),
                toEnd: false)
        }

        private mutating func odd() async throws {
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: try await send(0, .max, toEnd: true, information: true)
            case 1: try await send(nil, 0, toEnd: false, information: true)
            case 2: try await send(resource.length + Int64.random(in: 0...100, using: &generator), 10, toEnd: false)
            case 3: try await send(resource.length - 1, .max, toEnd: false)
            default:
                guard let twin = last, let offset = twin.offset else { return }
                try await send(offset, twin.length, toEnd: twin.reachesEnd)
            }
        }

        private mutating func cancel(_ request: ScriptRequest) async {
            await world.cancel(request, callback: Int.random(in: 0..<8, using: &generator) > 0)
        }

        private mutating func cancelOne() async {
            guard let request = open.randomElement(using: &generator) else { return }
            await cancel(request)
        }

        private mutating func cutNetwork() async {
            world.network.setOffline(true)
            await pass(Int.random(in: 0...30, using: &generator))
            world.network.setOffline(false)
        }

        private mutating func leave() async {
            guard !item.isEmpty else { return }
            await world.release(item, callbacks: Bool.random(using: &generator))
            open = []
        }

        private mutating func switchItem() async throws {
            await leave()
            count += 1
            item = "item \(round).\(count)"
            resource = world.resources.sorted { $0.key < $1.key }.randomElement(using: &generator)?.value ?? resource
            position = 0
            try world.makeItem(item, resource: resource)
            try await send(0, 2, toEnd: false, information: true)
            if Int.random(in: 0..<4, using: &generator) > 0 { await read(2) }
        }

        /// A later player gets everything, whatever happened before.
        private mutating func playAll() async throws -> [String] {
            try await switchItem()
            try await send(0, .max, toEnd: true, information: true)
            guard let request = open.last else { return [] }
            _ = await world.wait { request.isOver }
            let state = request.state.withLock { $0 }
            await world.release(item, callbacks: false)
            guard state.isFinished, state.error == nil, state.bytes == resource.length else {
                return [
                    "\(request.id) got \(state.bytes) of \(resource.length): \(state.error?.description ?? "no end")"
                ]
            }
            return []
        }
    }
#endif
