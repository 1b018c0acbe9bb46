#if REPRISE_AVFOUNDATION_STAND_IN
    import AVFoundation
    import Foundation
    import Primitives
    import RepriseTesting
    import TestLimits
    import Testing
    @testable import RepriseAVPlayer

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    extension VirtualClockTests {
        /// Each rule of the scripts is broken once, and the violation is detected.
        @Suite struct InvariantTests {
            private static let length: Int64 = 4 << 20

            private static let resource = ScriptResource.mp3("A", length: length)

            /// Sends requests to a faulty loader and returns the rules found broken.
            private func rules(
                _ delegate: FaultyDelegate, requests: Int = 1, allowed: [String]? = nil, length: Int = 2,
                cancels: Bool = false
            ) async throws -> Set<String> {
                try await rules({ _ in delegate }, requests: requests, allowed: allowed, length: length) {
                    world, request in
                    if cancels { await world.cancel(request, callback: true) }
                    await world.settle()
                    if cancels, let object = request.request {
                        object.dataRequest?.respond(with: Data(request.resource.bytes(0..<2, version: 1)))
                    }
                }
            }

            /// The same for a loader that `make` makes for its world; `then` follows each request.
            private func rules(
                _ make: (ScriptWorld) -> FaultyDelegate, requests: Int = 1, allowed: [String]? = nil, length: Int = 2,
                callbackLimit: Duration = .seconds(60), then: (ScriptWorld, ScriptRequest) async throws -> Void
            ) async throws -> Set<String> {
                let resource = Self.resource
                let violations = try await ScriptWorld.run(["A": resource], callbackLimit: callbackLimit) { world in
                    world.network.startScript()
                    try world.makeItem("A", resource: resource)
                    let item = world.state.withLock { $0.items["A"] }
                    let delegate = make(world)
                    item?.loader.setDelegate(delegate, queue: item?.queue)
                    for index in 0..<requests {
                        let request = ScriptRequest(
                            id: "r\(index)", item: "A", resource: resource, arrivalTick: 0, offset: 0, length: length,
                            reachesEnd: false,
                            information: AVAssetResourceLoadingContentInformationRequest(allowedContentTypes: allowed),
                            versions: [1])
                        try await world.send(request, url: world.loaderURL(of: resource))
                        try await then(world, request)
                    }
                    // The loader holds its delegate weakly.
                    withExtendedLifetime(delegate) {}
                }
                return Set(violations.compactMap { $0.split(separator: ":").first.map(String.init) })
            }

            private static func fill(
                _ request: AVAssetResourceLoadingRequest, type: String = "public.mp3", length: Int64 = length
            ) {
                request.contentInformationRequest?.contentType = type
                request.contentInformationRequest?.contentLength = length
                request.contentInformationRequest?.isByteRangeAccessSupported = true
            }

            private static func right(_ request: AVAssetResourceLoadingRequest, _ range: Range<Int64> = 0..<2) {
                request.dataRequest?.respond(with: Data(resource.bytes(range, version: 1)))
            }

            @Test func aRightAnswerBreaksNoRule() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate, requests: 2) == [])
            }

            @Test func oneARefusalIsSeen() async throws {
                #expect(try await rules(FaultyDelegate { _ in false }).contains("I1"))
            }

            /// Waits for the world's time inside a callback, where it stands still.
            private static func wait(in world: ScriptWorld) {
                let tick = DispatchSemaphore(value: 0)
                Task { [clock = world.clock] in
                    // Never canceled.
                    try? await clock.sleep(for: ScriptNetwork.tick)
                    tick.signal()
                }
                tick.wait()
            }

            @Test(.limit(minutes: 2)) func oneACallbackThatWaitsIsSeen() async throws {
                let broken = try await rules(
                    { world in
                        FaultyDelegate { request in
                            Self.wait(in: world)
                            Self.fill(request)
                            Self.right(request)
                            request.finishLoading()
                            return true
                        }
                    }, callbackLimit: .milliseconds(200)
                ) { _, _ in }
                #expect(broken == ["I1"])
            }

            @Test(.limit(minutes: 2)) func oneADidCancelThatWaitsIsSeen() async throws {
                let broken = try await rules(
                    { world in
                        FaultyDelegate { _ in
                            Self.wait(in: world)
                        } answer: { request in
                            Self.fill(request)
                            return true
                        }
                    }, callbackLimit: .milliseconds(200)
                ) { world, request in await world.cancel(request, callback: true) }
                #expect(broken == ["I1"])
            }

            @Test func twoWrongBytesAreSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    request.dataRequest?.respond(with: Data([1, 2]))
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate) == ["I2"])
            }

            @Test func twoBytesPastTheExtentAreSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request, 0..<3)
                    return true
                }
                #expect(try await rules(delegate) == ["I2"])
            }

            @Test func threeBytesBeforeInformationAreSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.right(request)
                    Self.fill(request)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate) == ["I3"])
            }

            @Test func fourASecondEndIsSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request)
                    request.finishLoading()
                    request.finishLoading()
                    return true
                }
                // AVFoundation itself raises an exception.
                #expect(try await rules(delegate) == ["I4", "exception"])
            }

            @Test func fourBytesAfterDidCancelAreSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    return true
                }
                #expect(try await rules(delegate, cancels: true) == ["I4"])
            }

            @Test func fiveAnEarlySuccessIsSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate) == ["I5"])
            }

            @Test(arguments: ["dyn.ah62d4rv4ge8043a", "audio/mpeg"]) func sixATypeThatNobodyDeclaresIsSeen(
                _ type: String
            ) async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request, type: type)
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate) == ["I6"])
            }

            @Test func sixATypeThatIsNotAllowedIsSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                // AVFoundation itself raises an exception.
                #expect(try await rules(delegate, allowed: ["public.mpeg-4"]) == ["I6", "exception"])
            }

            @Test func sevenALargePieceIsSeen() async throws {
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request, 0..<(1 << 20) + 1)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate, length: (1 << 20) + 1).contains("I7"))
            }

            @Test func eightAnotherLengthIsSeen() async throws {
                let calls = Mutex<Int64>(0)
                let delegate = FaultyDelegate { request in
                    Self.fill(
                        request,
                        length: Self.length
                            + calls.withLock { calls in
                                calls += 1
                                return calls
                            })
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                #expect(try await rules(delegate, requests: 2).contains("I8"))
            }

            @Test func nineASecondEndIsSeen() async throws {
                let broken = try await rules({ _ in
                    FaultyDelegate {
                        $0.finishLoading(with: NSError(domain: NSURLErrorDomain, code: -999))
                    } answer: { request in
                        Self.fill(request)
                        Self.right(request)
                        request.finishLoading()
                        return true
                    }
                }) { world, request in await world.cancel(request, callback: true) }
                #expect(broken == ["I4", "I9", "exception"])
            }

            @Test func nineTheEndOfAnotherRequestIsSeen() async throws {
                let held = Mutex<AVAssetResourceLoadingRequest?>(nil)
                let delegate = FaultyDelegate { _ in
                    let other = held.withLock { held in
                        defer { held = nil }
                        return held
                    }
                    other?.finishLoading(with: NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled))
                } answer: { request in
                    Self.fill(request)
                    let isFirst = held.withLock { held in
                        defer { held = held ?? request }
                        return held == nil
                    }
                    guard !isFirst else { return true }
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                let broken = try await rules({ _ in delegate }, requests: 2) { world, request in
                    if request.state.withLock({ $0.isFinished }) { await world.cancel(request, callback: true) }
                }
                #expect(broken == ["I9"])
                #expect(held.withLock { $0 } == nil)
            }

            @Test func nineAnAnsweredStrangerIsSeen() async throws {
                let delegate = FaultyDelegate { request in
                    request.finishLoading(with: NSError(domain: NSURLErrorDomain, code: NSURLErrorCancelled))
                } answer: { request in
                    Self.fill(request)
                    Self.right(request)
                    request.finishLoading()
                    return true
                }
                let broken = try await rules({ _ in delegate }) { world, request in
                    try await world.cancelStranger(of: "A", url: world.loaderURL(of: request.resource))
                }
                #expect(broken == ["I9"])
            }

            /// The real loader ignores unknown requests, and no other request suffers.
            @Test func nineAnUnknownCancellationIsIgnored() async throws {
                let resource = Self.resource
                let violations = try await ScriptWorld.run(["A": resource]) { world in
                    world.network.startScript()
                    try world.makeItem("A", resource: resource)
                    let first = ScriptRequest(
                        id: "r", item: "A", resource: resource, arrivalTick: 0, offset: 0, length: .max,
                        reachesEnd: true, information: nil, versions: [1])
                    try await world.send(first, url: world.loaderURL(of: resource))
                    try await world.cancelStranger(of: "A", url: world.loaderURL(of: resource))
                    let second = try await world.ask("s", "A", 100, 1000)
                    #expect(await world.wait { second.isOver })
                    await world.cancel(second, callback: true)
                    #expect(await world.wait { first.isOver })
                    #expect(first.state.withLock { $0.bytes } == Self.length)
                    await world.cancel(first, callback: true)
                }
                #expect(violations == [])
            }

            @Test func tenWhatIsLeftIsSeen() async throws {
                let kept = Mutex<[AVAssetResourceLoadingRequest]>([])
                let delegate = FaultyDelegate { request in
                    Self.fill(request)
                    Self.right(request)
                    request.finishLoading()
                    kept.withLock { $0.append(request) }
                    return true
                }
                #expect(try await rules(delegate) == ["I10"])
                #expect(kept.withLock { $0.count } == 1)
            }
        }
    }
#endif
