#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Reprise
    import RepriseHTTPClient
    import Testing

    /// A player that follows a live HLS item as AVPlayer does, with parts and blocking requests where the server has
    /// them; it acts when it is told the time.
    final class HLSLivePlayer {
        /// A request that the server may hold.
        private struct Pending {
            let name: String
            let part: LiveList.Part
            /// The answer may be a delta update.
            var isDelta = false
            let task: Task<(HLSPlayerRules.Outcome, [UInt8]), any Error>
        }

        let asset: AVURLAsset
        private let stream: LiveStream
        private let exchange: HLSExchange
        private var rules = HLSPlayerRules()
        private var reloads = HLSReloadRules()
        private var lists: [URL] = []
        private(set) var variant = 0
        private var list: LiveList?
        private var listTime = Duration.zero
        private var nextReload = Duration.zero
        private var pendingList: Pending?
        private var hinted: Pending?
        /// What is played next; `nil` before the first list, and after the window has passed over it.
        private var position: LiveList.Part?

        private(set) var segments = 0, parts = 0, jumps = 0, refusals = 0, heldLists = 0, deltas = 0

        /// Returns after a broken connection, when the next request may be sent.
        var pause: () async -> Void = {}

        init(_ asset: AVURLAsset, stream: LiveStream, network: NIOOrigin) {
            (self.asset, self.stream) = (asset, stream)
            exchange = HLSExchange(client: network)
        }

        func start() async throws {
            let text = String(decoding: try #require(try await load(asset.url)), as: UTF8.self)
            lists = text.split(separator: "\n").filter { !$0.hasPrefix("#") }
                .compactMap { URL(string: String($0), relativeTo: asset.url)?.absoluteURL }
            #expect(lists.count == LiveStream.variants)
        }

        /// Goes on with another variant where this one was.
        func change(to variant: Int) {
            guard variant != self.variant else { return }
            self.variant = variant
            (list, nextReload, reloads) = (nil, .zero, HLSReloadRules())
            abandon()
        }

        /// The app was suspended until `now`.
        func resume(at now: Duration) {
            reloads.resume(at: now)
            (list, nextReload) = (nil, now)
            abandon()
        }

        /// Cancels what waits at the server.
        func abandon() {
            for pending in [pendingList, hinted] {
                pending?.task.cancel()
                if let pending { stream.giveUp(pending.name) }
            }
            (pendingList, hinted) = (nil, nil)
        }

        /// Does all that is due at `now`, and waits for nothing that the origin holds.
        func act(at now: Duration) async throws {
            while true {
                if let pending = pendingList {
                    guard !stream.holds(pending.name) else { break }
                    pendingList = nil
                    try await finish(pending, at: now)
                } else if let list, list.canBlockReload, nextReload <= now {
                    // Of a list that is younger than half the boundary (rfc8216bis §6.3.7).
                    wait(for: list.next, isDelta: now - listTime < list.skipBoundary / 2)
                } else if nextReload <= now {
                    try await take(try await load(listURL()), asked: nil, at: now)
                } else {
                    break
                }
                try await playListed()
            }
            try await playHinted()
        }

        // MARK: - Lists

        private func listURL() -> URL { lists[variant] }

        private func wait(for part: LiveList.Part, isDelta: Bool) {
            let name = LiveStream.blocking("v\(variant).m3u8", part, isDelta: isDelta)
            if stream.holds(name) { heldLists += 1 }
            guard let url = URL(string: name, relativeTo: listURL())?.absoluteURL else { return }
            pendingList = Pending(name: name, part: part, isDelta: isDelta, task: send(url))
        }

        private func finish(_ pending: Pending, at now: Duration) async throws {
            let (outcome, body) = try await pending.task.value
            switch rules.react(to: outcome) {
            case .use: try await take(body, asked: pending.part, isDelta: pending.isDelta, at: now)
            case .again(let delay):
                refusals += 1
                nextReload = now + delay
            case .fail(let code): throw HLSPlayerModel.ItemFailed(code: code)
            }
        }

        private func take(
            _ body: [UInt8]?, asked: LiveList.Part?, isDelta: Bool = false, at now: Duration
        ) async throws {
            guard let body else {
                nextReload = now + .seconds(1)
                return
            }
            let new = LiveList(String(decoding: body, as: UTF8.self), on: list)
            if let list { #expect(list.next <= new.next, "no list is older than the one before") }
            #expect(isDelta || new.skipped == 0, "a delta update came to a request for the whole list")
            #expect(!new.segments.contains(""), "a delta update leaves out what the list before it did not have")
            deltas += new.skipped > 0 ? 1 : 0
            (list, listTime) = (new, now)
            switch reloads.take(new, asked: asked, at: now) {
            case .reload(let time): nextReload = time
            case .fail(let code): throw HLSPlayerModel.ItemFailed(code: code)
            }
        }

        // MARK: - Media

        /// Plays all that the list has behind the position.
        private func playListed() async throws {
            guard let list else { return }
            if let place = position, place.segment < list.sequence {
                jumps += 1
                position = nil
            }
            // Three target durations before the end (rfc8216bis §6.3.3).
            var place = position ?? LiveList.Part(segment: max(list.sequence, list.next.segment - 3), part: 0)
            while place < list.next {
                if place.part == 0, let link = list.segment(place.segment) {
                    let bytes = try await media(link)
                    #expect(bytes == LiveStream.bytes(variant: variant, segment: place.segment), "\(link)")
                    segments += 1
                    place = LiveList.Part(segment: place.segment + 1, part: 0)
                } else if let link = list.parts[place] {
                    try await play(link, place)
                    place = after(place)
                } else {
                    // The parts of an older segment are no longer listed: the rest of it is played from the whole.
                    place = LiveList.Part(segment: place.segment, part: 0)
                }
                position = place
            }
            position = place
        }

        private func play(_ link: String, _ place: LiveList.Part) async throws {
            let bytes: [UInt8]
            if let hinted, hinted.part == place, hinted.name == link {
                self.hinted = nil
                let (outcome, body) = try await hinted.task.value
                bytes = rules.react(to: outcome) == .use ? body : try await media(link)
            } else {
                bytes = try await media(link)
            }
            #expect(bytes == LiveStream.bytes(variant: variant, segment: place.segment, part: place.part), "\(link)")
            parts += 1
        }

        /// Asks for the part that the list says will come, before it exists.
        private func playHinted() async throws {
            guard let list, let link = list.hint, position == list.next, hinted == nil,
                let url = URL(string: link, relativeTo: listURL())?.absoluteURL
            else { return }
            hinted = Pending(name: link, part: list.next, task: send(url))
        }

        private func after(_ place: LiveList.Part) -> LiveList.Part {
            place.part + 1 < LiveStream.targetDuration
                ? LiveList.Part(segment: place.segment, part: place.part + 1)
                : LiveList.Part(segment: place.segment + 1, part: 0)
        }

        // MARK: - Requests

        private func send(_ url: URL) -> Task<(HLSPlayerRules.Outcome, [UInt8]), any Error> {
            Task { [exchange] in try await exchange.run(url) }
        }

        private func media(_ link: String) async throws -> [UInt8] {
            let url = try #require(URL(string: link, relativeTo: listURL())?.absoluteURL)
            return try #require(try await load(url), "\(link)")
        }

        /// The body; `nil` if the server asks to try again later.
        private func load(_ url: URL) async throws -> [UInt8]? {
            while true {
                let (outcome, body) = try await exchange.run(url)
                switch rules.react(to: outcome) {
                case .use: return body
                case .again where outcome == .broken: await pause()
                case .again:
                    refusals += 1
                    return nil
                case .fail(let code): throw HLSPlayerModel.ItemFailed(code: code)
                }
            }
        }
    }
#endif
