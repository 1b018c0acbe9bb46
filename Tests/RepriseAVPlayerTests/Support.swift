#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import Reprise
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension AVPlayer {
        /// The time in seconds, once the current item is ready: until then, late players drop seeks.
        func timeWhenReady(_ follower: ExternalPlaybackFollower) -> Double {
            if isLate {
                currentItem?.setStatus(.readyToPlay)
                follower.update()
            }
            return currentTime().seconds
        }
    }

    extension ScriptResource {
        /// An mp3, unless the arguments say otherwise.
        static func file(
            _ name: String = "A", length: Int64 = 1_500_000, mime: String? = "audio/mpeg",
            pathExtension: String = "mp3",
            head: String = "ID3"
        ) throws -> ScriptResource {
            var fields: [String: ScriptValue] = [
                "ext": .text(pathExtension), "head": .text(head), "length": .int(length),
            ]
            if let mime { fields["mime"] = .text(mime) }
            return try ScriptResource(.object(fields), name: name, name)
        }

        /// All bytes.
        func bytes() -> [UInt8] { bytes(0..<length, version: 1) }
    }

    extension ScriptWorld {
        /// Runs `body` in a world with these files, and expects that no rule is broken.
        static func check(
            _ resources: [ScriptResource], servers: [String: ScriptServer] = [:],
            configure: @escaping @Sendable (inout MediaCache.Configuration) -> Void = { _ in },
            _ body: (ScriptWorld) async throws -> Void
        ) async throws {
            let named = Dictionary(uniqueKeysWithValues: resources.map { ($0.name, $0) })
            let violations = try await run(named, servers: servers, configure: configure) { world in
                world.network.startScript()
                try await body(world)
            }
            #expect(violations == [])
        }

        /// Sends a request for `offset` and `length`, or for everything from `offset` on.
        @discardableResult
        func ask(
            _ id: String, _ item: String, _ offset: Int64 = 0, _ length: Int? = nil, information: Bool = false
        ) async throws -> ScriptRequest {
            guard let resource = state.withLock({ $0.items[item]?.resource }).flatMap({ resources[$0] }) else {
                throw ScriptFormatError("there is no item \(item)")
            }
            let request = ScriptRequest(
                id: id, item: item, resource: resource, arrivalTick: ticks, offset: offset, length: length ?? .max,
                reachesEnd: length == nil,
                information: information
                    ? AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: nil) : nil,
                versions: Set(1...16))
            try await send(request, url: loaderURL(of: resource))
            return request
        }

        /// Plays all of an item.
        func playAll(_ item: String) async throws {
            let request = try await ask("all of \(item)", item, information: true)
            #expect(await wait { request.isOver })
            #expect(request.state.withLock { $0.error } == nil)
        }

        var bytesFetched: Int64 {
            network.state.withLock { state in
                state.arrivals.reduce(0) { $0 + $1.range.upperBound - $1.range.lowerBound }
            }
        }

        func foundationURL(_ resource: ScriptResource) throws -> URL { try #require(URL(string: url(of: resource))) }

        func openCache() throws -> MediaCache { try #require(cache) }
    }
#endif
